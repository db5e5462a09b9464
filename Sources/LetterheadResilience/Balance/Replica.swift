// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation

/// One of several servers with the same content, for ``Balance``.
///
/// ```swift
/// let replicas: [Replica] = ["https://a.example.com", Replica("https://b.example.com:8443", weight: 2)]
/// ```
public struct Replica: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The scheme, the host and the port; nil if the URL is refused.
    public let origin: HTTPOrigin?
    /// The share of requests for ``Balance/Policy/weighted``, in relation to the other replicas. Default: 1.
    public let weight: Double
    /// What is wrong with the URL; nil if nothing is.
    let defect: String?

    /// Creates a replica from a URL without a path. A URL with a path, a user or a query is refused: each request of
    /// ``Balance`` then fails with `.invalidRequest`. A weight below zero and NaN count as zero.
    public init(_ url: String, weight: Double = 1) {
        self.weight = weight > 0 ? weight : 0
        guard let request = try? HTTPRequest(url), let origin = request.origin else {
            (origin, defect) = (nil, "a replica is not an absolute http or https URL")
            return
        }
        let isBare =
            ["", "/"].contains(request.path.string) && request.userInfo == nil && request.fragment == nil
            && request.query.escaped.isEmpty
        self.origin = isBare ? origin : nil
        defect = isBare ? nil : "the URL of the replica \(origin) has more than a scheme, a host and a port"
    }

    /// Creates a replica from a URL; see ``init(_:weight:)-(String,_)``.
    public init(_ url: URL, weight: Double = 1) { self.init(url.absoluteString, weight: weight) }

    public init(stringLiteral url: String) { self.init(url) }

    public var description: String { origin.map { "\($0)" } ?? "a refused replica" }
}

extension HTTPRequest {
    /// The request with the scheme, the host and the port of a server.
    func sent(to origin: HTTPOrigin) -> HTTPRequest {
        var request = self
        let isStandard = origin.port == (origin.scheme == "http" ? 80 : 443)
        (request.scheme, request.host, request.port) = (origin.scheme, origin.host, isStandard ? nil : origin.port)
        return request
    }

    /// Gives the request the scheme, the host and the port of another one, if it was sent to a replica.
    mutating func returnFrom(_ replica: HTTPOrigin, to other: HTTPRequest, _ tried: TriedServers?) {
        if host == replica.host, scheme == replica.scheme {
            (scheme, host, port) = (other.scheme, other.host, other.port)
        }
        if triedServers !== tried { triedServers = tried }
    }
}

extension HTTPResponse {
    /// Replaces the origin of a replica in `Location`, because for its client, the logical origin has responded.
    mutating func returnLocation(from replica: HTTPOrigin, to logical: HTTPOrigin) {
        let hasLocation = status.code == 201 || (300..<400).contains(status.code)
        guard hasLocation, let location = headers["Location"] else { return }
        let prefix = replica.description.utf8
        guard location.utf8.starts(with: prefix) else { return }
        let rest = location.utf8.dropFirst(prefix.count)
        guard let next = rest.first.map(Unicode.Scalar.init), !["/", "?", "#"].contains(next) else {
            return headers["Location"] = logical.description + String(Substring(rest))
        }
    }
}

// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation

/// One of several servers with the same content, for ``Balance``.
///
/// ```swift
/// let replicas: [Replica] = ["https://a.example.com", Replica("https://b.example.com:8443", weight: 2)]
/// ```
///
/// A replica receives the credentials and cookies for the logical origin. If the logical origin has https or is this
/// machine, a replica on a different machine must therefore have https, too.
///
/// Inside a network that you trust, replicas can use http. The logical origin must then have http as well, and the name
/// of a different machine. List it in `allowedOrigins` when you create the credentials.
public struct Replica: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The scheme, the host and the port, or nil if the URL is malformed.
    public let origin: HTTPOrigin?
    /// The share of requests that the replica receives under ``Balance/Policy/weighted``, in relation to the other
    /// replicas. Default: 1.
    public let weight: Double
    /// What is wrong with the URL, as a text for the error. Nil if the URL is valid.
    let defect: String?

    /// Creates a replica from a URL with a scheme, a host and optionally a port.
    ///
    /// If the URL is malformed or has a path, a user or a query, each request of ``Balance`` fails with
    /// `.invalidRequest`.
    ///
    /// - Parameters:
    ///   - url: the URL, such as `https://b.example.com:8443`.
    ///   - weight: the share of requests under ``Balance/Policy/weighted``. A weight below zero counts as zero, and so
    ///     does NaN.
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
        defect = isBare ? nil : "the URL of the replica \(origin) must have only a scheme, a host and a port"
    }

    /// Creates a replica from a URL (see ``init(_:weight:)-(String,_)``).
    public init(_ url: URL, weight: Double = 1) { self.init(url.absoluteString, weight: weight) }

    /// Creates a replica with the weight 1 from a literal, as in the example (see ``init(_:weight:)-(String,_)``).
    public init(stringLiteral url: String) { self.init(url) }

    /// The origin, such as `https://a.example.com`. A malformed URL isn't shown, because it may contain secrets.
    public var description: String { origin.map { "\($0)" } ?? "an invalid replica" }
}

extension HTTPRequest {
    /// Returns the request with a server's scheme, host and port.
    func sent(to origin: HTTPOrigin) -> HTTPRequest {
        var request = self
        (request.logicalOrigin, request.origin) = (request.origin, origin)
        return request
    }

    /// Restores the original scheme, host and port, if this request was sent to a replica. So the caller sees the
    /// logical origin.
    mutating func returnFrom(
        _ replica: HTTPOrigin, to logical: HTTPOrigin, of other: HTTPRequest, _ tried: TriedServers?
    ) {
        logicalOrigin = nil
        if host == replica.host, scheme == replica.scheme {
            origin = logical
            // The original request may contain the default port, or a scheme or a host in upper case.
            if scheme != other.scheme { scheme = other.scheme }
            if port != other.port { port = other.port }
            if host != other.host { host = other.host }
        }
        if triedServers !== tried { triedServers = tried }
    }
}

extension HTTPResponse {
    /// Replaces the replica origin in `Location`, `Content-Location` and `Link`, because for the client, the logical
    /// origin has responded.
    mutating func returnLinks(from replica: HTTPOrigin, to logical: HTTPOrigin) {
        for name in ["Location", "Content-Location"] as [HTTPHeaders.Name] {
            guard let place = headers[name] else { continue }
            if let returned = Self.returned(place[...], from: replica, to: logical) { headers[name] = returned }
        }
        guard headers.contains("Link") else { return }
        // Each link target is in angle brackets (RFC 8288, 3).
        let links = headers.values(for: "Link").joined(separator: ", ")
        var parts = links.utf8.split(separator: UInt8(ascii: "<"), omittingEmptySubsequences: false).map {
            String(Substring($0))
        }
        var isChanged = false
        for index in parts.indices.dropFirst() {
            guard let part = Self.returned(parts[index][...], from: replica, to: logical) else { continue }
            (parts[index], isChanged) = (part, true)
        }
        if isChanged { headers["Link"] = parts.joined(separator: "<") }
    }

    /// Returns the text with the logical origin in front of it instead of the replica. Returns nil if the text doesn't
    /// begin with the replica.
    private static func returned(_ text: Substring, from replica: HTTPOrigin, to logical: HTTPOrigin) -> String? {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let end = text.utf8[colon...].dropFirst(3).firstIndex { "/?#>".utf8.contains($0) } ?? text.endIndex
        guard (try? HTTPRequest(String(text[..<end])))?.origin == replica else { return nil }
        return logical.description + String(text[end...])
    }
}

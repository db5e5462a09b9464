import Foundation

/// The parts of a request by which its responses are found: the URL, and everything except `Vary` that separates the
/// responses of one URL.
struct CacheKey: Hashable, Sendable {
    /// The URL without a fragment, with the scheme and the host in lower case.
    let url: String
    /// The credentials of the request, or the identity of its signature, and the body of a QUERY. It may contain secrets,
    /// and is stored as a hash only.
    let identity: String

    /// The largest body of a QUERY that is compared, in bytes.
    private static let longestBody = 1 << 20

    /// Returns nil if the request has no URL, or a body that cannot be compared.
    init?(_ request: HTTPRequest, isSecret: (HTTPHeaders.Field) -> Bool) {
        guard let url = Self.url(of: request) else { return nil }
        self.url = url
        let signature = request.signature
        var identity = signature.map { "signed by \($0.identity)\n" } ?? ""
        for field in request.headers
        where field.name != .cookie && signature?.headers.contains(field.name) != true && isSecret(field) {
            identity += ASCII.lowercased(field.name.rawValue) + ":" + field.value + "\n"
        }
        if request.method == .query {
            guard request.body.isReplayable, (request.body.contentLength ?? 0) <= Self.longestBody,
                let body = try? request.body.encode(), body.count <= Self.longestBody
            else { return nil }
            let type = request.framedHeaders()[.contentType] ?? ""
            let hash = SHA256Hash.hash(Array(body)).map { String($0, radix: 16) }.joined(separator: ".")
            identity += "QUERY \(type) \(hash)"
        } else if !request.body.isEmpty {
            return nil
        }
        self.identity = identity
    }

    init(url: String, identity: String) { (self.url, self.identity) = (url, identity) }

    /// Compares bytes: strings are also equal if they differ only in their normalization, and credentials are not.
    static func == (left: CacheKey, right: CacheKey) -> Bool {
        left.url.isSame(as: right.url) && left.identity.isSame(as: right.identity)
    }

    /// Returns the URL of a request in the form of a key, without the items of a signature in its query.
    static func url(of request: HTTPRequest) -> String? {
        guard let host = request.host, !host.isEmpty else { return nil }
        var request = request
        if let items = request.signature?.query, !items.isEmpty {
            request.query = QueryParameters(request.query.filter { !items.contains($0) })
        }
        let scheme = ASCII.lowercased(request.scheme)
        let isStandard = request.port == nil || request.port == (scheme == "http" ? 80 : 443)
        let port = isStandard ? "" : ":\(request.port ?? 0)"
        return scheme + "://" + ASCII.lowercased(host) + port + request.target
    }
}

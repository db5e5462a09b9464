// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// A store for responses. Its methods may block on disk access, and can be called from any thread.
protocol CacheStorage: Sendable {
    /// Returns the entry for the key with the same varied fields as the request, and counts it as used.
    func find(_ key: CacheKey, varied: ([String]) -> [CachedHead.VariedField]) throws -> CachedEntry?

    /// Starts to store a response. When the response is complete, it replaces the entry with the same key and the same
    /// varied fields.
    func write(_ head: CachedHead, for key: CacheKey) throws -> any CacheWriting

    /// Replaces the head in an entry. If the entry was removed in the meantime, it isn't stored again.
    func update(_ entry: CachedEntry, head: CachedHead) throws -> CachedEntry

    func remove(_ entry: CachedEntry) throws

    func remove(url: String) throws

    /// Returns the URLs of stored responses that begin with a string. The result may contain other URLs as well, so the
    /// caller checks each one.
    func urls(withPrefix prefix: String) throws -> [String]

    func removeAll() throws
}

/// Writes one response. If ``finish()`` isn't called, nothing is stored.
protocol CacheWriting: Sendable {
    /// Appends bytes. If the body becomes larger than the store accepts, discards it and returns false.
    func append(_ data: Data) throws -> Bool

    func finish() throws

    func discard()
}

struct CachedEntry: Sendable {
    let key: CacheKey
    let head: CachedHead
    let body: CachedBody
    let id: UInt64
}

enum CachedBody: Sendable {
    case data(Data)
    /// A file with a verified checksum, for a body that is too large for memory.
    case file(CacheFileBody)

    var count: Int {
        switch self {
        case .data(let data): data.count
        case .file(let file): file.count
        }
    }

    /// Returns a body for one reader. Each reader has a separate position.
    func makeBody(isBuffered: Bool) -> HTTPResponseBody {
        switch self {
        case .data(let data): HTTPResponseBody(data)
        case .file(let file): isBuffered ? file.data.map { HTTPResponseBody($0) } ?? file.makeBody() : file.makeBody()
        }
    }
}

/// Identifies the stored responses that a request could reuse: its URL, and everything that separates responses for one
/// URL, except for the fields that `Vary` names.
struct CacheKey: Hashable, Sendable {
    /// The URL without a fragment, with the scheme and the host in lower case.
    let url: String
    /// The credentials or the signature identity in the request, its `Host` if it was set, and a hash of the body if the
    /// method is QUERY. It may contain secrets, and is stored only as a hash.
    let identity: String

    /// The largest QUERY body that the cache compares, in bytes.
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
        // A Host field names a resource that the URL doesn't name (RFC 9110, 7.1).
        if let host = request.headers[.host] { identity += "host:" + ASCII.lowercased(host) + "\n" }
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

    /// Compares bytes, because `==` on strings ignores their Unicode normalization. Two credentials that differ only in
    /// it are different credentials.
    static func == (left: CacheKey, right: CacheKey) -> Bool {
        left.url.isSame(as: right.url) && left.identity.isSame(as: right.identity)
    }

    /// Returns the request URL as keys contain it: normalized, and without query items that belong to a signature.
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

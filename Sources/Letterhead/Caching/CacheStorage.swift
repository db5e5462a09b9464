import Foundation

/// A store for responses. Its methods may block on disk access, and can be called from any thread.
protocol CacheStorage: Sendable {
    /// Returns the entry of a key whose varied fields are those of the request, and counts it as used.
    ///
    /// - Parameter varied: returns the fields of the request with the given names.
    func find(_ key: CacheKey, varied: ([String]) -> [CachedHead.VariedField]) throws -> CachedEntry?

    /// Starts to store a response. It replaces the entry with the same key and the same varied fields when it is
    /// complete.
    func write(_ head: CachedHead, for key: CacheKey) throws -> any CacheWriting

    /// Replaces the head of an entry. An entry that no longer exists stays removed.
    func update(_ entry: CachedEntry, head: CachedHead) throws -> CachedEntry

    /// Removes one entry.
    func remove(_ entry: CachedEntry) throws

    /// Removes all entries of a URL.
    func remove(url: String) throws

    /// Removes all entries.
    func removeAll() throws
}

/// A response that is being stored. It stores nothing unless it is finished.
protocol CacheWriting: Sendable {
    /// Appends bytes. Returns false if the body is larger than the store accepts; it is then discarded.
    func append(_ data: Data) throws -> Bool

    /// Stores the response.
    func finish() throws

    /// Stores nothing.
    func discard()
}

/// A stored response.
struct CachedEntry: Sendable {
    let key: CacheKey
    let head: CachedHead
    let body: CachedBody
    /// Identifies the stored body within its store.
    let id: UInt64
}

/// The body of a stored response.
enum CachedBody: Sendable {
    case data(Data)
    /// A file whose checksum has been verified, for a body that is too large for memory.
    case file(CacheFileBody)

    var count: Int {
        switch self {
        case .data(let data): data.count
        case .file(let file): file.count
        }
    }

    /// Returns a body that can be read independently of others.
    ///
    /// - Parameter isBuffered: whether the body must be in memory.
    func makeBody(isBuffered: Bool) -> HTTPResponseBody {
        switch self {
        case .data(let data): HTTPResponseBody(data)
        case .file(let file): isBuffered ? file.data.map { HTTPResponseBody($0) } ?? file.makeBody() : file.makeBody()
        }
    }
}

// SPDX-License-Identifier: MIT
import Letterhead
public import LetterheadFoundation

extension ResponseCache {
    /// A custom storage for responses, for example in a database.
    ///
    /// Use ``Store/memory(bytes:entries:)`` or ``Store/files(in:bytes:)`` if they are enough. Implement a storage to
    /// encrypt responses or to share them with other parts of your program, and pass it to
    /// ``Store/custom(_:bodyLimit:)``.
    ///
    /// ```swift
    /// final class Responses: ResponseCache.Storage {
    ///     private let table = Mutex<[String: [String: ResponseCache.Record]]>([:])
    ///
    ///     func records(for url: String) -> [ResponseCache.Record] {
    ///         table.withLock { Array($0[url, default: [:]].values) }
    ///     }
    ///     func save(_ record: ResponseCache.Record) {
    ///         table.withLock { $0[record.url, default: [:]][record.id] = record }
    ///     }
    ///     func remove(_ id: String?, for url: String) {
    ///         table.withLock { table in
    ///             if let id { table[url]?[id] = nil } else { table[url] = nil }
    ///         }
    ///     }
    ///     func urls(withPrefix prefix: String) -> [String] {
    ///         table.withLock { $0.keys.filter { $0.hasPrefix(prefix) } }
    ///     }
    ///     func removeAll() { table.withLock { $0 = [:] } }
    /// }
    /// ```
    ///
    /// The cache calls the functions from any thread, concurrently. They may block, but must not use the cache. If a
    /// function throws, the cache passes the error to `onError`, and the request continues without the store.
    ///
    /// The cache saves a response when its body is complete. If the server later confirms the response with a 304, the
    /// cache saves it again with a new head. If a body is truncated or dropped before its end, its response is never
    /// saved.
    ///
    /// Laws:
    ///
    /// - ``save(_:)`` replaces the record with the same URL and ``Record/id`` atomically: a reader receives the head
    ///   and the body from the same call.
    /// - The storage returns a saved record unchanged until it is replaced or removed. It may remove any record at any
    ///   time, and limits its own size.
    /// - ``records(for:)`` returns no removed record.
    public protocol Storage: Sendable {
        /// Returns all records for a URL, in any order.
        func records(for url: String) throws -> [Record]

        /// Stores a record. It replaces the record with the same URL and identifier, if there is one.
        func save(_ record: Record) throws

        /// Removes the record with this identifier, or all records for the URL if `id` is nil. A missing record isn't
        /// an error.
        func remove(_ id: String?, for url: String) throws

        /// Returns the URLs of all records that begin with a string. The result may contain other URLs as well: the
        /// cache ignores them.
        func urls(withPrefix prefix: String) throws -> [String]

        /// Removes all records. ``ResponseCache/removeAll()`` and a client reset call it.
        func removeAll() throws
    }

    /// A stored response in a custom ``Storage``.
    public struct Record: Hashable, Sendable {
        /// The request URL. Its query may contain secrets.
        public let url: String
        /// Identifies the response among all responses for its URL. It consists of 64 hexadecimal digits: a hash over
        /// the credentials, the request fields that `Vary` names, and the body if the method is QUERY.
        public let id: String
        /// The response status, headers and times, in a private format with a checksum. If it is damaged or doesn't
        /// match the body, the cache treats the record as missing.
        public let head: Data
        /// The response body, as the cache has received it.
        public let body: Data

        /// Creates a record, from the values that your storage has read back.
        public init(url: String, id: String, head: Data, body: Data) {
            (self.url, self.id, self.head, self.body) = (url, id, head, body)
        }
    }
}

extension ResponseCache.Record: CustomStringConvertible, CustomReflectable {
    public var description: String { "Record(\(Redaction.visible(id)), \(body.count) bytes)" }
    /// A mirror with only the description, so that `dump` prints neither the URL nor the response.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: [description]) }
}

extension ResponseCache.Store {
    /// Keeps responses in a custom storage. Several caches can share it.
    ///
    /// If a body is larger than `bodyLimit` bytes, its response isn't stored. Until a body is complete, its bytes stay
    /// in memory, so the limit also bounds the memory for each streamed response. Default: 8 MiB.
    public static func custom(_ storage: any ResponseCache.Storage, bodyLimit: Int = 8 << 20) -> Self {
        Self(
            storage: CustomCacheStorage(storage: storage, bodyLimit: bodyLimit),
            description: "custom, bodies of at most \(bodyLimit) bytes")
    }
}

/// Translates between cache entries and custom storage records.
struct CustomCacheStorage: CacheStorage {
    let storage: any ResponseCache.Storage
    let bodyLimit: Int

    func find(_ key: CacheKey, varied: ([String]) -> [CachedHead.VariedField]) throws -> CachedEntry? {
        var found: CachedEntry?
        for record in try storage.records(for: key.url) {
            guard let file = FileCacheHead(Array(record.head)), file.url == key.url,
                file.head.responseTime > found?.head.responseTime ?? .min,
                file.head.varied == varied(file.head.varied.map(\.name)),
                record.id == Self.id(key, file.head), file.bodyCount == record.body.count,
                file.bodyChecksum == CacheChecksum.of(record.body)
            else { continue }
            found = CachedEntry(
                key: key, head: file.head, body: .data(record.body), id: Self.number(of: record, file.bodyChecksum))
        }
        return found
    }

    func write(_ head: CachedHead, for key: CacheKey) -> any CacheWriting {
        MemoryCacheWriter(limit: bodyLimit) { body in try save(head, body, for: key) }
    }

    func update(_ entry: CachedEntry, head: CachedHead) throws -> CachedEntry {
        guard case .data(let body) = entry.body else { return entry }
        let id = Self.id(entry.key, entry.head)
        // An entry that was removed or replaced in the meantime is not saved again.
        let isStored = try storage.records(for: entry.key.url).contains { $0.id == id && $0.body == body }
        if isStored { try save(head, body, for: entry.key) }
        return CachedEntry(key: entry.key, head: head, body: entry.body, id: entry.id)
    }

    func remove(_ entry: CachedEntry) throws {
        try storage.remove(Self.id(entry.key, entry.head), for: entry.key.url)
    }

    func remove(url: String) throws { try storage.remove(nil, for: url) }

    func urls(withPrefix prefix: String) throws -> [String] { try storage.urls(withPrefix: prefix) }

    func removeAll() throws { try storage.removeAll() }

    private func save(_ head: CachedHead, _ body: Data, for key: CacheKey) throws {
        let file = FileCacheHead(
            url: key.url, head: head, bodyCount: body.count, bodyChecksum: CacheChecksum.of(body))
        try storage.save(
            ResponseCache.Record(url: key.url, id: Self.id(key, head), head: file.data, body: body))
    }

    /// Returns a number for a stored body. Requests that validate the same body have the same number, and share the
    /// validation.
    private static func number(of record: ResponseCache.Record, _ checksum: UInt64) -> UInt64 {
        FileCacheName.hash([record.id, String(checksum), record.url].joined(separator: " "))
    }

    /// Returns a hash over everything that separates the responses for one URL.
    private static func id(_ key: CacheKey, _ head: CachedHead) -> String {
        var text = "\(key.identity.utf8.count) \(key.identity)"
        for field in head.varied {
            text += "\n\(field.name): \(field.value.map { "\($0.utf8.count) \($0)" } ?? "none")"
        }
        return SHA256Hash.hash(Array(text.utf8)).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}

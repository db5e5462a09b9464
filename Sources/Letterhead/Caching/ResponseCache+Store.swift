public import Foundation

extension ResponseCache {
    /// The place where a cache stores responses. Several caches can share a store.
    public struct Store: Sendable, CustomStringConvertible {
        let storage: any CacheStorage
        /// The kind of the store and its limit.
        public let description: String

        /// Returns a store in memory. It is empty when the program starts.
        ///
        /// If a limit is exceeded, the least recently used responses are removed. A response whose body is larger than
        /// a quarter of `bytes` is not stored.
        ///
        /// - Parameters:
        ///   - bytes: the maximum number of bytes of all bodies and headers together.
        ///   - entries: the maximum number of responses. Default: 10,000.
        public static func memory(bytes: Int, entries: Int = 10_000) -> Store {
            Store(
                storage: MemoryCacheStorage(bytes: bytes, entries: entries),
                description: "memory, at most \(bytes) bytes")
        }

        /// Returns a store in a folder. Its responses are still available after the program has ended.
        ///
        /// Only the owner can read the files. Several stores and several processes can use one folder. A response can
        /// be reused only when it is complete, so a crash never leaves a partial response. A damaged file is treated as
        /// missing. A response whose body is larger than a quarter of `bytes` is not stored.
        ///
        /// - Parameters:
        ///   - folder: the URL of a folder that contains nothing else. It is created if it does not exist.
        ///   - bytes: the maximum number of bytes of all files together. It may be exceeded by 5% for a short time.
        ///     The least recently used responses are removed first.
        /// - Throws: an error of the file system if the folder cannot be created or read, or if it belongs to another
        ///   user.
        public static func files(in folder: URL, bytes: Int) throws -> Store {
            Store(
                storage: try FileCacheStorage(folder: folder, bytes: bytes),
                description: "files, at most \(bytes) bytes")
        }
    }
}

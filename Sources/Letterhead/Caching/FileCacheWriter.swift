import Foundation
import Synchronization

/// A response that is being written to a folder.
///
/// First the body and then the head is written under a temporary name and renamed. A response exists as soon as its
/// head exists. This type is a class because the reader of the body and the cache share it.
final class FileCacheWriter: CacheWriting {
    private struct State {
        var descriptor: Int32
        var count = 0
        var checksum = CacheChecksum()
    }

    private let folder: FileCacheFolder
    private let key: CacheKey
    private let head: CachedHead
    private let body: UInt64
    private let shard: Int
    private let limit: Int
    private let isStored: @Sendable (FileCacheName, _ headCount: Int) -> Void
    private let state: Mutex<State?>

    init(
        _ head: CachedHead, for key: CacheKey, in folder: FileCacheFolder, limit: Int,
        isStored: @escaping @Sendable (FileCacheName, _ headCount: Int) -> Void
    ) throws {
        (self.folder, self.key, self.head, self.limit, self.isStored) = (folder, key, head, limit, isStored)
        body = .random(in: .min ... .max)
        shard = FileCacheURL(key.url).shard
        state = Mutex(State(descriptor: try folder.create(Self.part(body), inShard: shard)))
    }

    deinit { discard() }

    func append(_ data: Data) throws -> Bool {
        let isAccepted = try state.withLock { state -> Bool? in
            guard var open = state.take() else { return false }
            guard open.count + data.count <= limit else {
                state = open
                return nil
            }
            defer { state = open }
            try data.withUnsafeBytes { bytes in
                try Self.write(bytes, to: open.descriptor)
                open.checksum.append(bytes)
            }
            open.count += data.count
            return true
        }
        if isAccepted == nil { discard() }
        return isAccepted ?? false
    }

    func finish() throws {
        guard let open = state.withLock({ $0.take() }) else { return }
        let name = FileCacheName(key, varied: head.varied, body: body, bodyCount: open.count)
        let file = FileCacheHead(url: key.url, head: head, bodyCount: open.count, bodyChecksum: open.checksum.value)
        do {
            guard close(open.descriptor) == 0 else { throw FileCacheFolder.Failure("cannot write a file") }
            try folder.rename(Self.part(body), to: name.bodyFile, inShard: shard)
            let data = file.data
            try Self.write(data, as: name.head, in: folder, shard: shard)
            isStored(name, data.count)
        } catch {
            folder.remove(Self.part(body), inShard: shard)
            folder.remove(name.bodyFile, inShard: shard)
            throw error
        }
    }

    func discard() {
        guard let open = state.withLock({ $0.take() }) else { return }
        close(open.descriptor)
        folder.remove(Self.part(body), inShard: shard)
    }

    /// Writes a small file under a temporary name, and renames it.
    static func write(_ data: Data, as name: String, in folder: FileCacheFolder, shard: Int) throws {
        let draft = part(.random(in: .min ... .max))
        let descriptor = try folder.create(draft, inShard: shard)
        do {
            do {
                defer { close(descriptor) }
                try data.withUnsafeBytes { try write($0, to: descriptor) }
            }
            try folder.rename(draft, to: name, inShard: shard)
        } catch {
            folder.remove(draft, inShard: shard)
            throw error
        }
    }

    private static func part(_ number: UInt64) -> String { FileCacheName.hex(number) + ".part" }

    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw FileCacheFolder.Failure("cannot write a file") }
            rest = rest.dropFirst(count)
        }
    }
}

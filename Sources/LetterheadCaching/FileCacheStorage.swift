// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation
import Synchronization

/// Stores responses in a folder: a head file and a body file for each response, in 256 subfolders.
///
/// The store has no journal: it builds its index from the file names. Other processes may add and remove files at any
/// time, so the store lists a subfolder again if it has changed.
final class FileCacheStorage: CacheStorage {
    private struct State {
        var index = FileCacheIndex()
        /// For each folder, the time of the last change that the index includes, or nil if the folder must be listed.
        var listed = [Int64?](repeating: nil, count: 256)
        /// When each folder was last compared with the index, to find the files that other processes wrote.
        var compared = [Int64](repeating: 0, count: 256)
        /// The names in `Vary`, by their hash.
        var varyNames: [UInt64: [String]] = [0: []]
        /// How many bytes were written since the last time when all folders were compared with the index. After enough
        /// of them, the files of other processes are counted again, too.
        var written = 0
    }

    /// In bytes. A body up to this size is read into memory, and a larger one stays in its file.
    private static let memoryLimit = 1 << 20

    private let folder: FileCacheFolder
    private let limit: Int
    private let state = Mutex(State())

    init(folder: URL, bytes: Int) throws {
        self.folder = try FileCacheFolder(folder)
        limit = max(0, bytes)
        state.withLock { state in
            for shard in 0..<256 { refresh(shard, &state) }
            evict(&state)
        }
    }

    var size: (bytes: Int, entries: Int) { state.withLock { ($0.index.bytes, $0.index.count) } }

    func find(_ key: CacheKey, varied: ([String]) -> [CachedHead.VariedField]) throws -> CachedEntry? {
        let url = FileCacheURL(key.url)
        let identity = FileCacheName.hash(key.identity)
        if let entry = try findListed(key, url, identity, varied) { return entry }
        // Responses that a different process stores become visible within a second.
        let isChanged = state.withLock { state in
            Self.now - state.compared[url.shard] > 1_000_000_000 && refresh(url.shard, &state)
        }
        return isChanged ? try findListed(key, url, identity, varied) : nil
    }

    private func findListed(
        _ key: CacheKey, _ url: FileCacheURL, _ identity: UInt64, _ varied: ([String]) -> [CachedHead.VariedField]
    ) throws -> CachedEntry? {
        var wanted: [UInt64: (values: UInt64, fields: [CachedHead.VariedField])] = [:]
        var found: (name: FileCacheName, file: FileCacheHead)?
        for name in state.withLock({ $0.index.names(of: url) }) where name.identity == identity {
            if wanted[name.varyNames] == nil {
                guard let names = try varyNames(of: name) else { continue }
                let fields = varied(names)
                wanted[name.varyNames] = (FileCacheName.hashes(of: fields).values, fields)
            }
            guard let wish = wanted[name.varyNames], wish.values == name.varyValues,
                let file = try head(of: name), file.url == key.url, file.head.varied == wish.fields,
                file.head.responseTime > found?.file.head.responseTime ?? .min
            else { continue }
            found = (name, file)
        }
        guard let (name, file) = found, let body = try body(of: name, file) else { return nil }
        use(name)
        return CachedEntry(key: key, head: file.head, body: body, id: name.body)
    }

    func write(_ head: CachedHead, for key: CacheKey) throws -> any CacheWriting {
        try FileCacheWriter(head, for: key, in: folder, limit: limit / 4) { [self] name, count in
            isStored(name, headCount: count)
        }
    }

    func update(_ entry: CachedEntry, head: CachedHead) throws -> CachedEntry {
        let updated = CachedEntry(key: entry.key, head: head, body: entry.body, id: entry.id)
        guard let name = name(of: entry), let old = try self.head(of: name) else { return updated }
        let file = FileCacheHead(
            url: entry.key.url, head: head, bodyCount: old.bodyCount, bodyChecksum: old.bodyChecksum)
        // If the head was removed in the meantime, writing it would bring it back without its body.
        guard folder.exists(name.head, inShard: name.url.shard) else { return updated }
        let data = file.data
        try FileCacheWriter.write(data, as: name.head, in: folder, shard: name.url.shard)
        state.withLock { $0.index.insert(name, headCount: data.count, lastUse: Self.now) }
        return updated
    }

    func remove(_ entry: CachedEntry) {
        if let name = name(of: entry) { state.withLock { remove(name, &$0) } }
    }

    func remove(url: String) {
        let url = FileCacheURL(url)
        state.withLock { state in
            refresh(url.shard, &state)
            for name in state.index.names(of: url) { remove(name, &state) }
        }
    }

    /// Returns the URLs that begin with a string. It reads each head, because the file names contain only hashes. A
    /// head that can't be read is removed.
    func urls(withPrefix prefix: String) -> [String] {
        let names = state.withLock { state in
            (0..<256).flatMap { shard in
                refresh(shard, &state)
                return state.index.names(inShard: shard)
            }
        }
        return names.compactMap { name in
            if let url = try? head(of: name)?.url { return url.begins(with: prefix) ? url : nil }
            state.withLock { remove(name, &$0) }
            return nil
        }
    }

    func removeAll() {
        state.withLock { state in
            folder.removeAll()
            state = State()
        }
    }

    // MARK: Entries

    private func name(of entry: CachedEntry) -> FileCacheName? {
        state.withLock { $0.index.names(of: FileCacheURL(entry.key.url)) }.first { $0.body == entry.id }
    }

    private func varyNames(of name: FileCacheName) throws -> [String]? {
        if let names = state.withLock({ $0.varyNames[name.varyNames] }) { return names }
        guard let file = try head(of: name) else { return nil }
        let names = file.head.varied.map(\.name)
        state.withLock { $0.varyNames[name.varyNames] = names }
        return names
    }

    /// Reads a head. Returns nil if a different process has removed it, or if a different library version wrote it.
    private func head(of name: FileCacheName) throws -> FileCacheHead? {
        guard let descriptor = try folder.opened(name.head, inShard: name.url.shard) else {
            state.withLock { remove(name, &$0) }
            return nil
        }
        defer { close(descriptor) }
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0, facts.st_size > 0, facts.st_size <= FileCacheHead.longest else {
            throw damaged(name)
        }
        // The system writes at most as many bytes as there is room for.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Int(facts.st_size)) { buffer, count in
            count = unsafe max(0, read(descriptor, buffer.baseAddress, buffer.count))
        }
        if FileCacheHead.isOfOtherVersion(bytes) {
            state.withLock { remove(name, &$0) }
            return nil
        }
        guard let file = FileCacheHead(bytes), file.bodyCount == Int(name.bodyCount) else { throw damaged(name) }
        return file
    }

    private func body(of name: FileCacheName, _ file: FileCacheHead) throws -> CachedBody? {
        guard let descriptor = try folder.opened(name.bodyFile, inShard: name.url.shard) else {
            // A body is removed only together with its head, so the response has been removed. If the head still
            // exists, it is removed as well.
            state.withLock { remove(name, &$0) }
            return nil
        }
        let body = CacheFileBody(descriptor, count: file.bodyCount)
        if file.bodyCount <= Self.memoryLimit {
            guard let data = body.data(checksum: file.bodyChecksum) else { throw damaged(name) }
            return .data(data)
        }
        guard body.isIntact(checksum: file.bodyChecksum) else { throw damaged(name) }
        return .file(body)
    }

    private func damaged(_ name: FileCacheName) -> FileCacheFolder.Failure {
        state.withLock { remove(name, &$0) }
        return FileCacheFolder.Failure("has removed a damaged file", code: EIO)
    }

    private func remove(_ name: FileCacheName, _ state: inout State) {
        state.index.remove(name)
        folder.remove(name.head, inShard: name.url.shard)
        folder.remove(name.bodyFile, inShard: name.url.shard)
    }

    private func use(_ name: FileCacheName) {
        let time = Self.now
        let last = state.withLock { $0.index.use(name, at: time) }
        // Only other processes and the next start read the time on disk, so a precision of one minute is sufficient.
        if let last, time - last > 60_000_000_000 { folder.touch(name.head, inShard: name.url.shard) }
    }

    private func isStored(_ name: FileCacheName, headCount: Int) {
        state.withLock { state in
            let old = state.index.names(of: name.url).filter {
                // The index may already contain the new name, if the folder was listed in the meantime.
                $0 != name && $0.identity == name.identity && $0.varyNames == name.varyNames
                    && $0.varyValues == name.varyValues
            }
            state.index.insert(name, headCount: headCount, lastUse: Self.now)
            for name in old { remove(name, &state) }
            state.written += headCount + Int(name.bodyCount)
            // Other processes may have written just as much, so their files are counted from time to time.
            if state.written > limit / 64 {
                state.written = 0
                for shard in 0..<256 { refresh(shard, &state) }
            }
            evict(&state)
        }
    }

    private func evict(_ state: inout State) {
        guard state.index.bytes > limit else { return }
        for name in state.index.oldest(over: limit - limit / 32) { remove(name, &state) }
    }

    /// Lists a folder again if it has changed. Returns whether it has.
    @discardableResult
    private func refresh(_ shard: Int, _ state: inout State) -> Bool {
        state.compared[shard] = Self.now
        guard let time = folder.changeTime(ofShard: shard), time != state.listed[shard] else { return false }
        let listed = folder.list(shard: shard, now: Self.now)
        // Two changes within one tick of the file system clock have the same time. After a recent change, the folder is
        // therefore listed again the next time.
        state.listed[shard] = Self.now - time > 50_000_000 ? time : nil
        let names = Set(listed.map(\.name))
        for name in state.index.names(inShard: shard) where !names.contains(name) { state.index.remove(name) }
        for file in listed { state.index.insert(file.name, headCount: file.headCount, lastUse: file.modified) }
        return true
    }

    private static var now: Int64 { SystemTime.nanoseconds(of: CLOCK_REALTIME) }
}

/// Writes the body and then the head, each under a temporary name, and then gives the files their final names. A
/// response exists as soon as its head exists.
///
/// The body closures and the cache share the writer.
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
            try Self.write(data, to: open.descriptor)
            open.checksum.append(data)
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

    static func write(_ data: Data, as name: String, in folder: FileCacheFolder, shard: Int) throws {
        let draft = part(.random(in: .min ... .max))
        let descriptor = try folder.create(draft, inShard: shard)
        do {
            do {
                defer { close(descriptor) }
                try write(data, to: descriptor)
            }
            try folder.rename(draft, to: name, inShard: shard)
        } catch {
            folder.remove(draft, inShard: shard)
            throw error
        }
    }

    private static func part(_ number: UInt64) -> String { FileCacheName.hex(number) + ".part" }

    private static func write(_ data: Data, to descriptor: Int32) throws {
        guard data.write(to: descriptor) else { throw FileCacheFolder.Failure("cannot write a file") }
    }
}

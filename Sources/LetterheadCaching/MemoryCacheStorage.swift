// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation
import Synchronization

/// Keeps responses in memory. If they exceed a number of bytes or a number of entries, it removes the least recently
/// used responses.
final class MemoryCacheStorage: CacheStorage {
    private struct Stored {
        var entry: CachedEntry
        var size: Int
        var lastUse: UInt64
    }

    private struct State {
        var urls: [String: [Stored]] = [:]
        var bytes = 0
        var count = 0
        var clock: UInt64 = 0
        var lastID: UInt64 = 0
    }

    private let limit: (bytes: Int, entries: Int)
    private let state = Mutex(State())

    init(bytes: Int, entries: Int) { limit = (max(0, bytes), max(0, entries)) }

    var size: (bytes: Int, entries: Int) { state.withLock { ($0.bytes, $0.count) } }

    func find(_ key: CacheKey, varied: ([String]) -> [CachedHead.VariedField]) -> CachedEntry? {
        state.withLock { state in
            guard let stored = state.urls[key.url] else { return nil }
            // Most variants of a URL vary by the same fields, so the values are read once and not for each variant.
            var wanted: [CachedHead.VariedField] = []
            let found = stored.lastIndex { stored in
                guard stored.entry.key == key else { return false }
                let fields = stored.entry.head.varied
                if fields.isEmpty { return true }
                if !fields.elementsEqual(wanted, by: { $0.name == $1.name }) { wanted = varied(fields.map(\.name)) }
                return fields == wanted
            }
            guard let place = found else { return nil }
            state.clock += 1
            state.urls[key.url]?[place].lastUse = state.clock
            return stored[place].entry
        }
    }

    func write(_ head: CachedHead, for key: CacheKey) -> any CacheWriting {
        // A body that needs more than a quarter of the store would displace too many other responses.
        MemoryCacheWriter(limit: limit.bytes / 4) { [self] body in insert(head, for: key, body: body) }
    }

    private func insert(_ head: CachedHead, for key: CacheKey, body: Data) {
        let size = body.count + head.estimatedSize + key.url.utf8.count + key.identity.utf8.count
        guard size <= limit.bytes, limit.entries > 0 else { return }
        state.withLock { state in
            state.lastID += 1
            state.clock += 1
            let entry = CachedEntry(key: key, head: head, body: .data(body), id: state.lastID)
            remove(from: &state, url: key.url) { $0.entry.key == key && $0.entry.head.varied == head.varied }
            state.urls[key.url, default: []].append(Stored(entry: entry, size: size, lastUse: state.clock))
            state.bytes += size
            state.count += 1
            evict(from: &state)
        }
    }

    func update(_ entry: CachedEntry, head: CachedHead) -> CachedEntry {
        let updated = CachedEntry(key: entry.key, head: head, body: entry.body, id: entry.id)
        state.withLock { state in
            guard let place = state.urls[entry.key.url]?.firstIndex(where: { $0.entry.id == entry.id }) else { return }
            guard var stored = state.urls[entry.key.url]?[place] else { return }
            let growth = head.estimatedSize - stored.entry.head.estimatedSize
            stored.size += growth
            stored.entry = updated
            state.urls[entry.key.url]?[place] = stored
            state.bytes += growth
            if stored.size > limit.bytes {
                remove(from: &state, url: entry.key.url) { $0.entry.id == entry.id }
            } else {
                evict(from: &state)
            }
        }
        return updated
    }

    func remove(_ entry: CachedEntry) {
        state.withLock { remove(from: &$0, url: entry.key.url) { $0.entry.id == entry.id } }
    }

    func remove(url: String) { state.withLock { remove(from: &$0, url: url) { _ in true } } }

    func urls(withPrefix prefix: String) -> [String] {
        state.withLock { $0.urls.keys.filter { $0.begins(with: prefix) } }
    }

    func removeAll() { state.withLock { $0 = State(lastID: $0.lastID) } }

    private func remove(from state: inout State, url: String, where fits: (Stored) -> Bool) {
        guard let stored = state.urls[url] else { return }
        let kept = stored.filter { !fits($0) }
        guard kept.count < stored.count else { return }
        state.bytes -= stored.reduce(0) { $0 + $1.size } - kept.reduce(0) { $0 + $1.size }
        state.count -= stored.count - kept.count
        state.urls[url] = kept.isEmpty ? nil : kept
    }

    /// Removes the least recently used entries. It removes a few more than necessary, so that a full store isn't sorted
    /// for each response.
    private func evict(from state: inout State) {
        guard state.bytes > limit.bytes || state.count > limit.entries else { return }
        let oldest = state.urls.values.joined().map { ($0.entry, $0.lastUse) }.sorted { $0.1 < $1.1 }
        let goal = (bytes: limit.bytes - limit.bytes / 32, entries: limit.entries - limit.entries / 32)
        for (entry, _) in oldest.dropLast() {
            guard state.bytes > goal.bytes || state.count > goal.entries else { return }
            remove(from: &state, url: entry.key.url) { $0.entry.id == entry.id }
        }
    }
}

/// Collects a body piece by piece. The body closures and the cache share it.
final class MemoryCacheWriter: CacheWriting {
    private let limit: Int
    private let store: @Sendable (Data) throws -> Void
    private let body = Mutex<Data?>(Data())

    init(limit: Int, store: @escaping @Sendable (Data) throws -> Void) { (self.limit, self.store) = (limit, store) }

    func append(_ data: Data) -> Bool {
        body.withLock { body in
            guard let count = body?.count, count + data.count <= limit else {
                body = nil
                return false
            }
            if count == 0 { body = data } else { body?.append(data) }
            return true
        }
    }

    func finish() throws {
        if let data = body.withLock({ $0.take() }) { try store(data) }
    }

    func discard() { body.withLock { $0 = nil } }
}

extension CachedHead {
    var estimatedSize: Int {
        headers.reduce(256) { $0 + $1.name.rawValue.utf8.count + $1.value.utf8.count + 64 } + varied.count * 64
    }
}

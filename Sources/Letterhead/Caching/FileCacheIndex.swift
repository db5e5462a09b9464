/// The names of the stored responses of a folder, by URL. Callers hold a lock.
///
/// The entries are in one array, linked by URL, because a store may have hundreds of thousands of them.
struct FileCacheIndex {
    struct Entry {
        var name: FileCacheName
        var headCount: Int
        /// Nanoseconds since 1970.
        var lastUse: Int64
        fileprivate var next: Int32
    }

    private var entries: [Entry] = []
    private var free: [Int32] = []
    private var firsts: [FileCacheURL: Int32] = [:]
    /// The number of bytes of all files.
    private(set) var bytes = 0

    /// The number of entries.
    var count: Int { entries.count - free.count }

    mutating func reserve(_ count: Int) {
        entries.reserveCapacity(count)
        firsts.reserveCapacity(count)
    }

    /// Returns the names of a URL, the newest first.
    func names(of url: FileCacheURL) -> [FileCacheName] {
        var names: [FileCacheName] = []
        var place = firsts[url] ?? -1
        while place >= 0 {
            names.append(entries[Int(place)].name)
            place = entries[Int(place)].next
        }
        return names
    }

    /// Adds an entry, or updates the entry with the same name.
    mutating func insert(_ name: FileCacheName, headCount: Int, lastUse: Int64) {
        if let place = place(of: name) {
            bytes += headCount - entries[place].headCount
            entries[place].headCount = headCount
            entries[place].lastUse = max(lastUse, entries[place].lastUse)
            return
        }
        let entry = Entry(name: name, headCount: headCount, lastUse: lastUse, next: firsts[name.url] ?? -1)
        bytes += headCount + Int(name.bodyCount)
        if let place = free.popLast() {
            entries[Int(place)] = entry
            firsts[name.url] = place
        } else {
            firsts[name.url] = Int32(entries.count)
            entries.append(entry)
        }
    }

    /// Notes a use. Returns the time of the previous one; nil if there is no such entry.
    mutating func use(_ name: FileCacheName, at time: Int64) -> Int64? {
        guard let place = place(of: name) else { return nil }
        defer { entries[place].lastUse = max(time, entries[place].lastUse) }
        return entries[place].lastUse
    }

    @discardableResult
    mutating func remove(_ name: FileCacheName) -> Bool {
        var place = firsts[name.url] ?? -1
        var previous: Int32 = -1
        while place >= 0, entries[Int(place)].name != name {
            previous = place
            place = entries[Int(place)].next
        }
        guard place >= 0 else { return false }
        let next = entries[Int(place)].next
        if previous >= 0 {
            entries[Int(previous)].next = next
        } else {
            firsts[name.url] = next >= 0 ? next : nil
        }
        bytes -= entries[Int(place)].headCount + Int(name.bodyCount)
        entries[Int(place)].next = -2
        free.append(place)
        return true
    }

    /// Returns the least recently used names that must be removed to reach a number of bytes.
    func oldest(over goal: Int) -> [FileCacheName] {
        var rest = bytes
        let used = entries.filter { $0.next != -2 }.sorted { $0.lastUse < $1.lastUse }
        return used.prefix { entry in
            defer { rest -= entry.headCount + Int(entry.name.bodyCount) }
            return rest > goal
        }.map(\.name)
    }

    /// Returns the names of one folder.
    func names(inShard shard: Int) -> [FileCacheName] {
        entries.filter { $0.next != -2 && $0.name.url.shard == shard }.map(\.name)
    }

    private func place(of name: FileCacheName) -> Int? {
        var place = firsts[name.url] ?? -1
        while place >= 0, entries[Int(place)].name != name { place = entries[Int(place)].next }
        return place >= 0 ? Int(place) : nil
    }
}

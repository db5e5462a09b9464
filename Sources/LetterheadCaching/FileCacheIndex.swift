// SPDX-License-Identifier: MIT
import Letterhead

/// The names of the responses that are stored in a folder, by URL. Callers hold a lock.
struct FileCacheIndex {
    private struct Entry {
        let name: FileCacheName
        var headCount: Int
        /// In nanoseconds since 1970.
        var lastUse: Int64

        var bytes: Int { headCount + Int(name.bodyCount) }
    }

    private var shards = [[FileCacheURL: [Entry]]](repeating: [:], count: 256)
    private(set) var bytes = 0
    private(set) var count = 0

    /// Returns the names for a URL, the newest first.
    func names(of url: FileCacheURL) -> [FileCacheName] { shards[url.shard][url]?.map(\.name) ?? [] }

    mutating func insert(_ name: FileCacheName, headCount: Int, lastUse: Int64) {
        if let place = place(of: name), let old = shards[name.url.shard][name.url]?[place] {
            bytes += headCount - old.headCount
            shards[name.url.shard][name.url]?[place].headCount = headCount
            shards[name.url.shard][name.url]?[place].lastUse = max(lastUse, old.lastUse)
        } else {
            let entry = Entry(name: name, headCount: headCount, lastUse: lastUse)
            shards[name.url.shard][name.url, default: []].insert(entry, at: 0)
            bytes += entry.bytes
            count += 1
        }
    }

    /// Updates the time when an entry was last used. Returns the previous time, or nil if there is no such entry.
    mutating func use(_ name: FileCacheName, at time: Int64) -> Int64? {
        guard let place = place(of: name), let last = shards[name.url.shard][name.url]?[place].lastUse else {
            return nil
        }
        shards[name.url.shard][name.url]?[place].lastUse = max(time, last)
        return last
    }

    mutating func remove(_ name: FileCacheName) {
        guard let place = place(of: name), let entry = shards[name.url.shard][name.url]?.remove(at: place) else {
            return
        }
        if shards[name.url.shard][name.url]?.isEmpty == true { shards[name.url.shard][name.url] = nil }
        bytes -= entry.bytes
        count -= 1
    }

    /// Returns the least recently used names. Once their files are removed, the folder has at most `goal` bytes.
    func oldest(over goal: Int) -> [FileCacheName] {
        var rest = bytes
        return shards.flatMap { $0.values.joined() }.sorted { $0.lastUse < $1.lastUse }.prefix { entry in
            defer { rest -= entry.bytes }
            return rest > goal
        }.map(\.name)
    }

    func names(inShard shard: Int) -> [FileCacheName] { shards[shard].values.joined().map(\.name) }

    private func place(of name: FileCacheName) -> Int? {
        shards[name.url.shard][name.url]?.firstIndex { $0.name == name }
    }
}

/// A head file name. It contains hashes, so that a folder can be indexed without reading its files, and the name of the
/// body file.
struct FileCacheName: Hashable, Sendable {
    /// The first 128 bits of the URL hash.
    let url: FileCacheURL
    /// Hashes over the credentials, over the names in `Vary`, and over the field values.
    let identity, varyNames, varyValues: UInt64
    /// The random body file name. It differs for each stored response.
    let body: UInt64
    let bodyCount: UInt64

    init(_ key: CacheKey, varied: [CachedHead.VariedField], body: UInt64, bodyCount: Int) {
        url = FileCacheURL(key.url)
        identity = Self.hash(key.identity)
        (varyNames, varyValues) = Self.hashes(of: varied)
        (self.body, self.bodyCount) = (body, UInt64(bodyCount))
    }

    init(url: FileCacheURL, numbers: [UInt64]) {
        self.url = url
        (identity, varyNames, varyValues) = (numbers[0], numbers[1], numbers[2])
        (body, bodyCount) = (numbers[3], numbers[4])
    }

    static func hashes(of varied: [CachedHead.VariedField]) -> (names: UInt64, values: UInt64) {
        guard !varied.isEmpty else { return (0, 0) }
        let names = varied.map(\.name).joined(separator: ",")
        let values = varied.map { $0.value.map { "=\($0)" } ?? "" }.joined(separator: "\n")
        return (hash(names), hash(values))
    }

    /// Returns the first 64 hash bits for a string, or 0 for an empty string.
    static func hash(_ text: String) -> UInt64 {
        text.isEmpty ? 0 : SHA256Hash.hash(Array(text.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// `HIGH-LOW-IDENTITY-NAMES-VALUES-BODY-COUNT.head`, in hexadecimal. `HIGH` and `LOW` are the halves of the URL
    /// hash.
    var head: String {
        ([url.high, url.low, identity, varyNames, varyValues, body].map { Self.hex($0) }
            + [String(bodyCount, radix: 16)]).joined(separator: "-") + ".head"
    }

    var bodyFile: String { Self.hex(body) + ".body" }

    // Each index is below the number of bytes in the name.
    init?(_ name: UnsafeBufferPointer<UInt8>) {
        guard name.count > 5, unsafe name.suffix(5).elementsEqual(".head".utf8) else { return nil }
        var numbers: [UInt64] = []
        var (number, digits): (UInt64, Int) = (0, 0)
        for index in 0..<(name.count - 5) {
            let byte = unsafe name[index]
            if byte == UInt8(ascii: "-") {
                numbers.append(number)
                (number, digits) = (0, 0)
            } else {
                guard let digit = Self.digit(byte), digits < 16 else { return nil }
                number = number << 4 | digit
                digits += 1
            }
        }
        numbers.append(number)
        guard numbers.count == 7, numbers[6] <= UInt64(Int.max) else { return nil }
        self.init(url: FileCacheURL(high: numbers[0], low: numbers[1]), numbers: Array(numbers[2...]))
    }

    static func hex(_ number: UInt64) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 16 - text.utf8.count) + text
    }

    private static func digit(_ byte: UInt8) -> UInt64? {
        switch byte {
        case 0x30...0x39: UInt64(byte - 0x30)
        case 0x61...0x66: UInt64(byte - 0x61 + 10)
        default: nil
        }
    }
}

/// The first 128 bits of the hash over a URL.
struct FileCacheURL: Hashable, Sendable {
    let high, low: UInt64

    init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    init(_ url: String) {
        let hash = SHA256Hash.hash(Array(url.utf8))
        high = hash[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = hash[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The folder number for this URL, from 0 to 255.
    var shard: Int { Int(high >> 56) }
}

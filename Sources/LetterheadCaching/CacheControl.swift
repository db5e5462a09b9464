// SPDX-License-Identifier: MIT
import Letterhead

/// The directives in a `Cache-Control` (RFC 9111, 5.2).
///
/// If a directive occurs twice with different values, or if its number is malformed, it counts as zero seconds, so that
/// the response is stale (RFC 9111, 4.2.1).
struct CacheControl: Equatable, Sendable {
    /// The arguments by directive name, in lower case. Nil for a directive without an argument.
    private var arguments: [String: String?] = [:]
    private var conflicts: Set<String> = []

    init(_ lines: [String]) {
        for line in lines { line.withBytes { unsafe read($0) } }
    }

    init(_ headers: HTTPHeaders) {
        self.init(headers.contains(.cacheControl) ? headers.values(for: .cacheControl) : [])
    }

    var isEmpty: Bool { arguments.isEmpty }

    /// Returns whether a directive is present. If it lists header fields, the list is ignored.
    func contains(_ name: String) -> Bool { !arguments.isEmpty && arguments.keys.contains(name) }

    /// Returns the seconds in a directive: nil if it is absent, and 0 if it is malformed.
    func seconds(_ name: String) -> Int64? {
        guard !arguments.isEmpty, let argument = arguments[name] else { return nil }
        guard !conflicts.contains(name) else { return 0 }
        return argument.flatMap { Self.deltaSeconds($0) } ?? 0
    }

    func isBare(_ name: String) -> Bool { contains(name) && arguments[name] == .some(.none) }

    /// Parses a number in seconds. Numbers above 2³¹ count as 2³¹ (RFC 9111, 1.2.2). Returns nil if it isn't a number.
    static func deltaSeconds(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return text.utf8.reduce(Int64(0)) { min($0 * 10 + Int64($1 - 0x30), 1 << 31) }
    }

    /// Reads `name`, `name=token` and `name="quoted"`, separated by commas. Each index is below the number of bytes.
    private mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) {
        var index = 0
        while index < bytes.count {
            let start = index
            while index < bytes.count, unsafe ASCII.isTokenCharacter(bytes[index]) { index += 1 }
            let name = unsafe ASCII.lowercased(bytes.text(start..<index))
            var argument: String?
            if index < bytes.count, unsafe bytes[index] == UInt8(ascii: "=") {
                index += 1
                argument = unsafe Self.argument(bytes, &index)
            }
            if !name.isEmpty { add(name, argument) }
            unsafe Self.skip(bytes, &index)
        }
    }

    private mutating func add(_ name: String, _ argument: String?) {
        guard let old = arguments.updateValue(argument, forKey: name) else { return }
        if old.map({ Array($0.utf8) }) != argument.map({ Array($0.utf8) }) { conflicts.insert(name) }
    }

    private static func argument(_ bytes: UnsafeBufferPointer<UInt8>, _ index: inout Int) -> String {
        var text: [UInt8] = []
        guard index < bytes.count, unsafe bytes[index] == UInt8(ascii: "\"") else {
            while index < bytes.count, unsafe bytes[index] != UInt8(ascii: ",") {
                unsafe text.append(bytes[index])
                index += 1
            }
            return ASCII.trimmed(String(decoding: text, as: UTF8.self))
        }
        index += 1
        while index < bytes.count, unsafe bytes[index] != UInt8(ascii: "\"") {
            if unsafe bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count { index += 1 }
            unsafe text.append(bytes[index])
            index += 1
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Skips to the next directive. Quoted text after a malformed directive counts as part of it.
    private static func skip(_ bytes: UnsafeBufferPointer<UInt8>, _ index: inout Int) {
        var isQuoted = false
        if index < bytes.count, unsafe bytes[index] == UInt8(ascii: "\"") { index += 1 }
        while index < bytes.count {
            let byte = unsafe bytes[index]
            if !isQuoted, byte == UInt8(ascii: ",") { break }
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            index += 1
        }
        while index < bytes.count, unsafe !ASCII.isTokenCharacter(bytes[index]) { index += 1 }
    }
}

/// The conditions under which a request may reuse stored responses, from its policy and its `Cache-Control`. Times are
/// in seconds.
struct CacheDemand: Equatable, Sendable {
    var validates = false
    var onlyIfCached = false
    var maxAge: Int64?
    /// How long the response must remain fresh.
    var minFresh: Int64 = 0
    /// How long ago a reused response may have become stale.
    var maxStale: Int64?
    /// How long ago a response may have become stale that replaces an error from the server or the connection.
    var staleIfError: Int64?

    /// Whether the request sets no condition that a stale response could break.
    var isPlain: Bool { !validates && maxAge == nil && minFresh == 0 }

    init() {}

    init(_ request: HTTPRequest) {
        read(request)
        switch request.caching.kind {
        case .standard, .bypass: break
        case .revalidate: validates = true
        case .onlyIfCached: onlyIfCached = true
        case .stale(let limit, let onErrorOnly):
            let seconds = Int64(min(limit, .seconds(1 << 31)).components.seconds)
            if onErrorOnly { staleIfError = seconds } else { maxStale = seconds }
        }
    }

    private mutating func read(_ request: HTTPRequest) {
        let control = CacheControl(request.headers)
        if control.isEmpty {
            validates = ASCII.members(of: request.headers.values(for: "Pragma")).map(ASCII.keyword).contains("no-cache")
            return
        }
        validates = control.contains("no-cache")
        onlyIfCached = control.contains("only-if-cached")
        maxAge = control.seconds("max-age")
        minFresh = control.seconds("min-fresh") ?? 0
        maxStale = control.isBare("max-stale") ? 1 << 31 : control.seconds("max-stale")
        staleIfError = control.seconds("stale-if-error")
    }
}

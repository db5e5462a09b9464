// SPDX-License-Identifier: MIT
package import LetterheadFoundation

extension String {
    /// Calls a closure with the UTF-8 bytes of the string. Unlike `withUTF8`, it doesn't need a variable. Only a string
    /// from Objective-C is copied.
    ///
    /// The call is safe. Using the bytes is unsafe: they exist only until the closure returns.
    @inline(__always) @safe
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        unsafe utf8.withContiguousStorageIfAvailable(body) ?? withCopiedBytes(body)
    }

    /// Calls the closure for a string from Objective-C, which may have a different encoding.
    @inline(never) @safe
    private func withCopiedBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        var copy = self
        return copy.withUTF8(body)
    }
}

// Text from a server or a file is treated as bytes. Operations on characters don't find a delimiter before a combining
// mark, regard canonically equivalent strings as equal, and take quadratic time for many marks.
extension StringProtocol where SubSequence == Substring {
    /// Splits the string at each occurrence of an ASCII character.
    package func split(at mark: Unicode.Scalar, omittingEmpty: Bool = true) -> [Substring] {
        self[...].utf8.split(separator: UInt8(ascii: mark), omittingEmptySubsequences: omittingEmpty)
            .map { Substring($0) }
    }

    /// Splits the string at the first occurrence of an ASCII character. Returns nil if the string doesn't contain it.
    package func cut(at mark: Unicode.Scalar) -> (head: Substring, tail: Substring)? {
        utf8.firstIndex(of: UInt8(ascii: mark)).map { (self[..<$0], self[utf8.index(after: $0)...]) }
    }

    package func begins(with prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }

    package func ends(with suffix: some StringProtocol) -> Bool {
        self[...].utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    package func holds(_ part: String) -> Bool { Array(utf8).contains(Array(part.utf8)) }

    /// Returns whether two strings have the same bytes.
    @inlinable package func isSame(as other: some StringProtocol) -> Bool {
        // Comparing the views costs ten times as much for each byte.
        let isSame = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in
                left.count == right.count && left.indices.allSatisfy { unsafe left[$0] == right[$0] }
            }
        }
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    /// Replaces each occurrence of a string, which must not be empty.
    package func replacingBytes(of part: String, with new: String) -> String {
        String(decoding: Array(utf8).replacing(Array(part.utf8), with: Array(new.utf8)), as: UTF8.self)
    }
}

extension String {
    /// Whether the string has at most 30 consecutive combining characters, as all text in use has (UAX #15,
    /// "Stream-Safe Text Format"). Swift compares strings and keys by canonical equivalence, and the time for it grows
    /// with the square of this number.
    package var isQuicklyCompared: Bool {
        // Each combining character has at least two bytes.
        guard utf8.count > 60 else { return true }
        var length = 0
        return unicodeScalars.allSatisfy { scalar in
            length = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : length + 1
            return length <= 30
        }
    }
}

extension String? {
    /// The UTF-8 bytes, to compare strings or to use them as keys.
    package var bytes: [UInt8]? { map { Array($0.utf8) } }
}

extension Hasher {
    mutating func combine(bytesOf text: String) {
        text.withBytes { unsafe combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension Data {
    /// Returns data that is allocated once and that a closure fills. The memory is neither zeroed nor copied.
    ///
    /// The call is safe: the data owns the memory, or an error releases it.
    ///
    /// - Parameter fill: writes the bytes, and returns their number. The remaining memory isn't used.
    @safe package static func filled<Failure: Error>(
        count: Int, orThrow failure: @autoclosure () -> Failure,
        _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Data {
        guard count > 0 else { return Data() }
        guard let memory = unsafe malloc(count) else { throw failure() }
        let written: Int
        do {
            written = try unsafe fill(UnsafeMutableRawBufferPointer(start: memory, count: count))
        } catch {
            unsafe free(memory)
            throw error
        }
        return unsafe Data(bytesNoCopy: memory, count: written, deallocator: .free)
    }
}

// These use positions instead of iterators for speed: building a request parses its base URL. The positions that a
// caller passes must be in the buffer, and its memory outlives the call.
extension UnsafeBufferPointer<UInt8> {
    /// Returns where an ASCII character first occurs in a range.
    func first(_ mark: Unicode.Scalar, from start: Int, to end: Int) -> Int? {
        guard start < end, let base = baseAddress,
            let place = unsafe memchr(base + start, Int32(mark.value), end - start)
        else { return nil }
        return unsafe UnsafeRawPointer(place) - UnsafeRawPointer(base)
    }

    /// Returns where an ASCII character last occurs in a range.
    func last(_ mark: Unicode.Scalar, from start: Int, to end: Int) -> Int? {
        var place = unsafe first(mark, from: start, to: end)
        while let found = place, let next = unsafe first(mark, from: found + 1, to: end) { place = next }
        return place
    }

    package func text(_ range: Range<Int>) -> String {
        let part = unsafe UnsafeBufferPointer(rebasing: self[range])
        return unsafe String(unsafeUninitializedCapacity: part.count) { unsafe $0.initialize(fromContentsOf: part) }
    }
}

extension Array {
    /// Replaces all elements that fulfill a condition with one element, at the first match. Without a match, appends
    /// the element. If the element is nil, only removes the matches.
    mutating func replace(with element: Element?, where fits: (Element) -> Bool) {
        guard let place = firstIndex(where: fits) else { return element.map { append($0) } ?? () }
        // Usually only one element fits, and the others stay.
        if let element, !self[(place + 1)...].contains(where: fits) { return self[place] = element }
        let after = self[(place + 1)...].filter { !fits($0) }
        replaceSubrange(place..., with: (element.map { [$0] } ?? []) + after)
    }
}

/// A buffer of bytes whose number a server or a file determines. A failed allocation is reported, whereas `Data` and
/// `Array` would end the process.
///
/// It owns the memory, which has room for `capacity` bytes and begins with `count` initialized ones.
@safe struct GrowingBytes: ~Copyable {
    private var memory: UnsafeMutableRawPointer?
    private var capacity = 0
    private(set) var count = 0

    init(capacity: Int = 0) {
        if capacity > 0 { _ = reserve(capacity) }
    }

    deinit { unsafe free(memory) }

    /// Appends bytes. If there isn't enough memory, it appends nothing and returns false.
    mutating func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return true }
        let (sum, isOver) = count.addingReportingOverflow(bytes.count)
        guard !isOver, sum <= capacity || reserve(max(sum, 2 * capacity)) else { return false }
        unsafe memory?.advanced(by: count).copyMemory(from: source, byteCount: bytes.count)
        count = sum
        return true
    }

    mutating func append(_ bytes: some ContiguousBytes) -> Bool { unsafe bytes.withUnsafeBytes { unsafe append($0) } }

    /// Returns the bytes without copying them. The buffer is empty afterwards.
    mutating func take() -> Data {
        guard count > 0, let memory = unsafe memory else { return Data() }
        defer { unsafe (self.memory, capacity, count) = (nil, 0, 0) }
        let isMostlyUnused = capacity - count > max(count, 4096)
        let fitting = unsafe isMostlyUnused ? realloc(memory, count) ?? memory : memory
        return unsafe Data(bytesNoCopy: fitting, count: count, deallocator: .free)
    }

    private mutating func reserve(_ size: Int) -> Bool {
        guard let grown = unsafe realloc(memory, size) else { return false }
        unsafe (memory, capacity) = (grown, size)
        return true
    }
}

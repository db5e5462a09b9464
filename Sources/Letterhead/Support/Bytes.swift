package import Foundation

extension String {
    /// Calls a closure with the UTF-8 bytes of the string. Unlike `withUTF8`, it does not need a variable. Only a
    /// string from Objective-C is copied.
    @inline(__always)
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        utf8.withContiguousStorageIfAvailable(body) ?? withCopiedBytes(body)
    }

    /// Calls the closure for a string from Objective-C, which may have another encoding.
    @inline(never)
    private func withCopiedBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        var copy = self
        return copy.withUTF8(body)
    }
}

extension Data {
    /// Returns data whose memory is allocated once and filled by a closure. The memory is neither zeroed nor copied.
    ///
    /// - Parameters:
    ///   - count: the number of bytes to allocate.
    ///   - failure: the error that is thrown if there is not enough memory.
    ///   - fill: writes the bytes, and returns their number. The rest of the memory is not used.
    package static func filled<Failure: Error>(
        count: Int, orThrow failure: @autoclosure () -> Failure,
        _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Data {
        guard count > 0 else { return Data() }
        guard let memory = malloc(count) else { throw failure() }
        let written: Int
        do {
            written = try fill(UnsafeMutableRawBufferPointer(start: memory, count: count))
        } catch {
            free(memory)
            throw error
        }
        return Data(bytesNoCopy: memory, count: written, deallocator: .free)
    }
}

// These use positions instead of iterators for speed: a base URL is parsed for every request that is built.
extension UnsafeBufferPointer<UInt8> {
    /// Returns the first position of an ASCII character in a range of the bytes.
    func first(_ mark: Unicode.Scalar, from start: Int, to end: Int) -> Int? {
        guard start < end, let base = baseAddress, let place = memchr(base + start, Int32(mark.value), end - start)
        else { return nil }
        return UnsafeRawPointer(place) - UnsafeRawPointer(base)
    }

    /// Returns the last position of an ASCII character in a range of the bytes.
    func last(_ mark: Unicode.Scalar, from start: Int, to end: Int) -> Int? {
        var place = first(mark, from: start, to: end)
        while let found = place, let next = first(mark, from: found + 1, to: end) { place = next }
        return place
    }

    /// Returns a range of the bytes as a string.
    func text(_ range: Range<Int>) -> String {
        let part = UnsafeBufferPointer(rebasing: self[range])
        return String(unsafeUninitializedCapacity: part.count) { $0.initialize(fromContentsOf: part) }
    }
}

extension Array {
    /// Replaces all elements that fulfill a condition with one element, at the position of the first of them. If no
    /// element fulfills the condition, the new element is appended. If the new element is nil, the others are removed.
    mutating func replace(with element: Element?, where fits: (Element) -> Bool) {
        guard let place = firstIndex(where: fits) else {
            if let element { append(element) }
            return
        }
        let after = self[(place + 1)...].filter { !fits($0) }
        replaceSubrange(place..., with: (element.map { [$0] } ?? []) + after)
    }
}

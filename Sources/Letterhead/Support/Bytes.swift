package import Foundation

extension String {
    /// What is made of the bytes of the text, where they lie; unlike `withUTF8`, no variable is needed, and so no copy.
    @inline(__always)
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        utf8.withContiguousStorageIfAvailable(body) ?? withCopiedBytes(body)
    }

    /// A text that Objective-C made may lie in another encoding.
    @inline(never)
    private func withCopiedBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        var copy = self
        return copy.withUTF8(body)
    }
}

extension Data {
    /// Data of an exact size, written once: nothing is zeroed, grown or copied on the way.
    ///
    /// - Parameters:
    ///   - count: how many bytes there is room for.
    ///   - fill: writes them, and says how many it wrote; the rest is left out.
    package static func filled<Failure: Error>(
        count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Data {
        guard count > 0, let memory = malloc(count) else { return Data() }
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

// By positions, without iterators: a base URL is taken apart for every request that is built.
extension UnsafeBufferPointer<UInt8> {
    /// Where a mark of ASCII stands first in a part of the bytes.
    func first(_ mark: Unicode.Scalar, from start: Int, to end: Int) -> Int? {
        guard start < end, let base = baseAddress, let place = memchr(base + start, Int32(mark.value), end - start)
        else { return nil }
        return UnsafeRawPointer(place) - UnsafeRawPointer(base)
    }

    /// Where a mark of ASCII stands last in a part of the bytes.
    func last(_ mark: Unicode.Scalar, from start: Int, to end: Int) -> Int? {
        var place = first(mark, from: start, to: end)
        while let found = place, let next = first(mark, from: found + 1, to: end) { place = next }
        return place
    }

    /// The text of a part of the bytes.
    func text(_ range: Range<Int>) -> String {
        let part = UnsafeBufferPointer(rebasing: self[range])
        return String(unsafeUninitializedCapacity: part.count) { $0.initialize(fromContentsOf: part) }
    }
}

extension Array {
    /// Replaces all elements that fit by one, at the place of the first of them, or at the end; nil removes them.
    mutating func replace(with element: Element?, where fits: (Element) -> Bool) {
        guard let place = firstIndex(where: fits) else {
            if let element { append(element) }
            return
        }
        let after = self[(place + 1)...].filter { !fits($0) }
        replaceSubrange(place..., with: (element.map { [$0] } ?? []) + after)
    }
}

import Foundation

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

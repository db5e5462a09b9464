import Foundation

/// A URI reference, split as RFC 3986, appendix B splits it, byte for byte: nothing is decoded, repaired or normalised, and a
/// combining mark hides no separator.
package struct URLParts: Hashable, Sendable {
    package var scheme: String?
    package var authority: String?
    package var path = ""
    package var query: String?
    package var fragment: String?

    package init(_ text: String) {
        withUnsafeMutablePointer(to: &self) { parts in text.withBytes { parts.pointee.split($0) } }
    }

    private mutating func split(_ bytes: UnsafeBufferPointer<UInt8>) {
        var (start, end) = (0, bytes.count)
        if let mark = Self.first("#", in: bytes, start, end) {
            fragment = Self.text(bytes, mark + 1, end)
            end = mark
        }
        if let mark = Self.first("?", in: bytes, start, end) {
            query = Self.text(bytes, mark + 1, end)
            end = mark
        }
        if let colon = Self.first(":", in: bytes, start, end), Self.isScheme(bytes, start, colon) {
            scheme = Self.text(bytes, start, colon)
            start = colon + 1
        }
        if Self.hasSlashes(bytes, start, end) {
            let slash = Self.first("/", in: bytes, start + 2, end) ?? end
            authority = Self.text(bytes, start + 2, slash)
            start = slash
        }
        path = Self.text(bytes, start, end)
    }

    /// What stands before the last `@` of the authority: user and password.
    package var userInfo: String? {
        authority?.withBytes { bytes in
            Self.last("@", in: bytes, 0).map { Self.text(bytes, 0, $0) }
        }
    }

    /// Host and port; a port that is no number stays part of the host, where it is refused.
    package var hostAndPort: (host: String, port: Int?)? {
        guard let authority else { return nil }
        return authority.withBytes { bytes in
            let start = Self.startOfHost(bytes)
            guard let colon = Self.last(":", in: bytes, start),
                Self.first("]", in: bytes, colon, bytes.count) == nil
            else { return (start == 0 ? authority : Self.text(bytes, start, bytes.count), nil) }
            let digits = bytes[(colon + 1)...]
            let isNumber = digits.allSatisfy { (48...57).contains($0) }
            let port = isNumber ? Int(String(decoding: digits, as: UTF8.self)) : nil
            guard port != nil || digits.isEmpty else { return (Self.text(bytes, start, bytes.count), nil) }
            return (Self.text(bytes, start, colon), port)
        }
    }

    private static func startOfHost(_ authority: UnsafeBufferPointer<UInt8>) -> Int {
        last("@", in: authority, 0).map { $0 + 1 } ?? 0
    }

    /// Whether a text begins with a scheme and `://`, or with `//`: it names a host.
    package static func namesHost(_ text: String) -> Bool {
        text.withBytes { bytes in
            if hasSlashes(bytes, 0, bytes.count) { return true }
            guard let colon = first(":", in: bytes, 0, bytes.count), isScheme(bytes, 0, colon) else { return false }
            return hasSlashes(bytes, colon + 1, bytes.count)
        }
    }

    // By positions, without iterators: a base URL is taken apart for every request that is built.

    private static func text(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> String {
        String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<end]), as: UTF8.self)
    }

    private static func first(
        _ mark: Unicode.Scalar, in bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int
    ) -> Int? {
        guard start < end, let base = bytes.baseAddress,
            let place = memchr(base + start, Int32(mark.value), end - start)
        else { return nil }
        return UnsafeRawPointer(place) - UnsafeRawPointer(base)
    }

    private static func last(_ mark: Unicode.Scalar, in bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int? {
        var place = first(mark, in: bytes, start, bytes.count)
        while let found = place, let next = first(mark, in: bytes, found + 1, bytes.count) { place = next }
        return place
    }

    private static func hasSlashes(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> Bool {
        start + 2 <= end && bytes[start] == UInt8(ascii: "/") && bytes[start + 1] == UInt8(ascii: "/")
    }

    private static func isScheme(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> Bool {
        guard start < end, isLetter(bytes[start]) else { return false }
        for index in start..<end {
            let byte = bytes[index]
            let isMark = byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
            guard isLetter(byte) || (48...57).contains(byte) || isMark else { return false }
        }
        return true
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (65...90).contains(byte) || (97...122).contains(byte) }
}

// SPDX-License-Identifier: MIT
/// The parts of a URI reference as strings, byte for byte as ``URLRanges`` finds them.
package struct URLParts: Sendable {
    package var scheme: String?
    package var authority: String?
    package var path = ""
    package var query: String?
    package var fragment: String?

    // The pointer is to this value, which has its defaults already, and ``URLRanges`` are positions in the bytes of the
    // string. Both exist until the closures return. A closure that changes the value itself would cost a fifth more.
    package init(_ text: String) {
        unsafe withUnsafeMutablePointer(to: &self) { parts in
            text.withBytes { bytes in
                let ranges = unsafe URLRanges(bytes)
                unsafe parts.pointee.scheme = ranges.scheme.map { unsafe bytes.text($0) }
                unsafe parts.pointee.authority = ranges.authority.map { unsafe bytes.text($0) }
                unsafe parts.pointee.path = bytes.text(ranges.path)
                unsafe parts.pointee.query = ranges.query.map { unsafe bytes.text($0) }
                unsafe parts.pointee.fragment = ranges.fragment.map { unsafe bytes.text($0) }
            }
        }
    }

    /// The authority up to its last `@`: user and password.
    package var userInfo: String? {
        authority?.withBytes { bytes in
            unsafe AuthorityRanges(bytes, in: 0..<bytes.count).userInfo.map { unsafe bytes.text($0) }
        }
    }

    /// The host and port. A port that isn't a number stays part of the host, which validation refuses.
    var hostAndPort: (host: String, port: Int?)? {
        authority?.withBytes { bytes in
            let ranges = unsafe AuthorityRanges(bytes, in: 0..<bytes.count)
            return unsafe (bytes.text(ranges.host), ranges.port)
        }
    }

    /// Returns whether a string begins with a scheme and `://`, or with `//`, and thus contains a host.
    static func namesHost(_ text: String) -> Bool { text.withBytes { unsafe URLRanges.beginWithHost($0) } }
}

extension URLParts {
    /// Resolves a reference relative to this URL (RFC 3986, 5.2.2), byte for byte.
    ///
    /// The result has the fragment in the reference, or the one in this URL if the reference has none (RFC 9110,
    /// 10.2.2).
    package func resolving(_ reference: URLParts) -> URLParts {
        var target = reference
        target.fragment = reference.fragment ?? fragment
        if reference.scheme == nil {
            target.scheme = scheme
            if reference.authority == nil {
                target.authority = authority
                if reference.path.isEmpty {
                    target.path = path
                    target.query = reference.query ?? query
                    return target
                }
                if !reference.path.begins(with: "/") { target.path = merged(with: reference.path) }
            }
        }
        target.path = Self.removingDotSegments(target.path)
        return target
    }

    /// Returns the same parts with the bytes of the sets percent-encoded. The fragment uses the set for the query.
    /// Well-formed escapes are kept.
    func escaped(path pathSet: EscapeSet, query querySet: EscapeSet) -> URLParts {
        changed(self) { parts in
            parts.path = PercentEncoding.escapeLiteral(path, pathSet)
            parts.query = query.map { PercentEncoding.escapeLiteral($0, querySet) }
            parts.fragment = fragment.map { PercentEncoding.escapeLiteral($0, querySet) }
        }
    }

    /// The URI reference that consists of these parts (RFC 3986, 5.3).
    package var string: String {
        var text = scheme.map { $0 + ":" } ?? ""
        if let authority { text += "//" + authority }
        text += path
        if let query { text += "?" + query }
        if let fragment { text += "#" + fragment }
        return text
    }

    /// Returns this path with a relative path instead of its last segment (RFC 3986, 5.2.3).
    private func merged(with relative: String) -> String {
        if authority != nil, path.isEmpty { return "/" + relative }
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return relative }
        return path[..<path.utf8.index(after: slash)] + relative
    }

    /// Returns the path without `.` and `..` (RFC 3986, 5.2.4). It drops `..` segments above the root.
    static func removingDotSegments(_ path: String) -> String {
        var output: [Substring] = []
        let segments = path.split(at: "/", omittingEmpty: false)
        let root = path.begins(with: "/") ? 1 : 0
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            let isUp = segment.isSame(as: "..")
            guard isUp || segment.isSame(as: ".") else {
                output.append(segment)
                continue
            }
            if isUp, output.count > root { output.removeLast() }
            if isLast { output.append("") }
        }
        return output.joined(separator: "/")
    }
}

/// The byte ranges that the parts of a URI reference have, as in RFC 3986, appendix B. Nothing is decoded, repaired or
/// normalized. A combining mark cannot hide a separator.
///
/// Only positions below the number of bytes are read.
struct URLRanges {
    private(set) var scheme: Range<Int>?
    private(set) var authority: Range<Int>?
    let path: Range<Int>
    private(set) var query: Range<Int>?
    private(set) var fragment: Range<Int>?

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        var (start, end) = (0, bytes.count)
        if let mark = unsafe bytes.first("#", from: start, to: end) {
            fragment = mark + 1..<end
            end = mark
        }
        if let mark = unsafe bytes.first("?", from: start, to: end) {
            query = mark + 1..<end
            end = mark
        }
        if let colon = unsafe bytes.first(":", from: start, to: end), unsafe Self.isScheme(bytes, to: colon) {
            scheme = 0..<colon
            start = colon + 1
        }
        if unsafe Self.hasSlashes(bytes, from: start, to: end) {
            let slash = unsafe bytes.first("/", from: start + 2, to: end) ?? end
            authority = start + 2..<slash
            start = slash
        }
        path = start..<end
    }

    /// Returns whether the bytes begin with a scheme and `://`, or with `//`.
    static func beginWithHost(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        if unsafe hasSlashes(bytes, from: 0, to: bytes.count) { return true }
        let colon = unsafe bytes.first(":", from: 0, to: bytes.count)
        return colon.map { unsafe isScheme(bytes, to: $0) && hasSlashes(bytes, from: $0 + 1, to: bytes.count) } ?? false
    }

    private static func hasSlashes(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int) -> Bool {
        unsafe start + 2 <= end && bytes[start] == UInt8(ascii: "/") && bytes[start + 1] == UInt8(ascii: "/")
    }

    private static func isScheme(_ bytes: UnsafeBufferPointer<UInt8>, to end: Int) -> Bool {
        guard end > 0, unsafe isLetter(bytes[0]) else { return false }
        for index in 1..<end {
            let byte = unsafe bytes[index]
            let isMark = byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
            guard isLetter(byte) || (48...57).contains(byte) || isMark else { return false }
        }
        return true
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (97...122).contains(byte | 0x20) }
}

/// The byte ranges that the parts of an authority have (RFC 3986, 3.2). Only positions in the authority are read.
struct AuthorityRanges {
    /// The part before the last `@`: user and password.
    private(set) var userInfo: Range<Int>?
    private(set) var host: Range<Int>
    private(set) var port: Int?

    /// Finds the parts. A port that isn't a number stays part of the host, which validation refuses.
    init(_ bytes: UnsafeBufferPointer<UInt8>, in authority: Range<Int>) {
        host = authority
        if let mark = unsafe bytes.last("@", from: host.lowerBound, to: host.upperBound) {
            userInfo = host.lowerBound..<mark
            host = mark + 1..<host.upperBound
        }
        guard let colon = unsafe bytes.last(":", from: host.lowerBound, to: host.upperBound),
            unsafe bytes.first("]", from: colon, to: host.upperBound) == nil
        else { return }
        port = unsafe Self.number(bytes, in: colon + 1..<host.upperBound)
        if port != nil || colon + 1 == host.upperBound { host = host.lowerBound..<colon }
    }

    /// Returns the number, or nil if it contains a character other than a digit, or overflows.
    private static func number(_ bytes: UnsafeBufferPointer<UInt8>, in range: Range<Int>) -> Int? {
        var number: Int?
        for place in range {
            guard unsafe (48...57).contains(bytes[place]) else { return nil }
            let (tens, isOver) = (number ?? 0).multipliedReportingOverflow(by: 10)
            let (sum, isSumOver) = unsafe tens.addingReportingOverflow(Int(bytes[place] - 48))
            guard !isOver, !isSumOver else { return nil }
            number = sum
        }
        return number
    }
}

// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// Identifies a representation and the part of it that a body contains, so that the rest of the body can be requested.
struct BodyPart: Sendable, Hashable {
    /// The value of `If-Range`: a strong entity tag, or a date that is as reliable as one.
    let validator: String
    /// The byte range in the representation that the whole body has.
    let range: Range<Int>
    /// The representation length, if the server knows it.
    let completeLength: Int?
    /// The URL that the body comes from, without its query. A validator identifies a version of one resource only (RFC
    /// 9110, 8.8.3). The query is left out because a redirect may sign it for each request.
    let place: String
}

extension BodyPart {
    /// Returns nil if the rest of the body can't be requested: there is no strong validator or no length, or the server
    /// offers no ranges.
    ///
    /// Positions count encoded bytes (RFC 9110, 14.1.2), so a body with a content coding is not continued. A body that
    /// the transport has decompressed has no length.
    init?(_ response: HTTPResponse) {
        let headers = response.headers
        guard response.request.method == .get, !headers.contains(.contentEncoding),
            ASCII.keyword(headers[.acceptRanges] ?? "") != "none", let validator = Self.strongValidator(headers)
        else { return nil }
        let (length, isPart) = (response.body.length, response.status == .partialContent)
        let content = isPart ? ContentRange(headers) : nil
        guard isPart || response.status == .ok, let range = isPart ? content?.range : length.map({ 0..<$0 }),
            range.count == length ?? range.count
        else { return nil }
        self.init(
            validator: validator, range: range, completeLength: isPart ? content?.completeLength : length,
            place: Self.place(of: response))
    }

    static func place(of response: HTTPResponse) -> String {
        "\(response.request.origin?.description ?? "")\(response.request.path.string)"
    }

    /// Returns the value of `Range` for the rest of the body, from a position on.
    func rest(from position: Int) -> String {
        range.upperBound == completeLength ? "bytes=\(position)-" : "bytes=\(position)-\(range.upperBound - 1)"
    }

    /// Returns the reason why a response doesn't continue the body at the position, or nil if it does.
    func fault(of response: HTTPResponse, from position: Int) -> String? {
        let headers = response.headers
        guard response.status == .partialContent else {
            return response.status == .ok
                ? "the resource has changed, or the server does not support ranges"
                : "the server responded with \(response.status)"
        }
        guard Self.place(of: response).isSame(as: place) else { return "the part comes from a different URL" }
        guard let content = ContentRange(headers), let part = content.range else {
            return "the part has no valid Content-Range"
        }
        guard part.lowerBound == position, part.upperBound <= range.upperBound else {
            return "the server sent bytes \(part.lowerBound) to \(part.upperBound - 1) instead of the requested ones"
        }
        guard response.body.length.map({ $0 == part.count }) ?? true else {
            return "the length of the part differs from its Content-Range"
        }
        let isSameLength = completeLength == nil || content.completeLength.map { $0 == completeLength } ?? true
        guard isSameLength, isSame(headers), !headers.contains(.contentEncoding) else {
            return "the part belongs to a different version of the resource"
        }
        return nil
    }

    /// Whether the headers in a 206 contain the same validator. A date may be missing, because a 206 needn't repeat it
    /// (RFC 9110, 15.3.7).
    private func isSame(_ headers: HTTPHeaders) -> Bool {
        let isTag = validator.begins(with: "\"")
        let values = headers.values(for: isTag ? .eTag : .lastModified)
        return values.isEmpty ? !isTag : values.allSatisfy { $0.isSame(as: validator) }
    }

    /// Returns a validator that identifies the bytes exactly, or nil if there is none.
    ///
    /// It is the strong entity tag. If there is no tag at all, it is a `Last-Modified` that is a minute or more before
    /// `Date`. The resource then can't have changed twice within the same second, even if two clocks measured the times
    /// (RFC 9110, 8.8.2.2).
    static func strongValidator(_ headers: HTTPHeaders) -> String? {
        let tags = headers.values(for: .eTag)
        guard tags.isEmpty else { return tags.count == 1 && isStrongTag(tags[0]) ? tags[0] : nil }
        guard let modified = headers.date(of: .lastModified), let date = headers.date(of: .date),
            date.timeIntervalSince(modified) >= 60
        else { return nil }
        return headers[.lastModified]
    }

    private static func isStrongTag(_ text: String) -> Bool {
        let quote = UInt8(ascii: "\"")
        let bytes = text.utf8
        return bytes.count >= 2 && bytes.first == quote && bytes.last == quote
            && bytes.dropFirst().dropLast().allSatisfy { $0 > 0x20 && $0 != quote && $0 != 0x7F }
    }
}

/// A `Content-Range` in bytes (RFC 9110, 14.4): `bytes 0-9/100`, `bytes 0-9/*` or `bytes */100`.
struct ContentRange: Hashable {
    /// Nil in a 416.
    let range: Range<Int>?
    /// The whole length, or nil if the server doesn't know it.
    let completeLength: Int?

    /// Returns nil if the field is missing, malformed, or occurs twice.
    init?(_ headers: HTTPHeaders) {
        let values = headers.values(for: .contentRange)
        guard let value = values.first, values.count == 1, let (unit, rest) = value.cut(at: " "),
            ASCII.keyword(unit) == "bytes", let (positions, length) = ASCII.trimmed(rest).cut(at: "/")
        else { return nil }
        completeLength = Self.number(length)
        guard completeLength != nil || length.isSame(as: "*") else { return nil }
        if positions.isSame(as: "*"), completeLength != nil {
            range = nil
            return
        }
        guard let (first, last) = positions.cut(at: "-"), let first = Self.number(first), let last = Self.number(last),
            first <= last, last < completeLength ?? .max
        else { return nil }
        range = first..<last + 1
    }

    /// Reads a number that consists of digits only. `Int` would also accept a sign.
    static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
    }
}

import Foundation

/// A single byte range of a stored response (RFC 9110, 14).
struct CachedRange {
    private let bytes: Data
    private let field: String

    /// Returns nil if the stored response is not a 200 in memory, or if the request does not ask for one satisfiable
    /// range.
    init?(_ request: HTTPRequest, of entry: CachedEntry) {
        guard request.method == .get, entry.head.status == 200, case .data(let data) = entry.body,
            let text = request.headers[.range], let range = Self.range(text, count: data.count)
        else { return nil }
        bytes = data[data.startIndex + range.lowerBound..<data.startIndex + range.upperBound]
        field = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(data.count)"
    }

    /// Replaces the body of the response by the range.
    func apply(to response: inout HTTPResponse) {
        response.status = .partialContent
        response.headers[.contentRange] = field
        response.headers[.contentLength] = String(bytes.count)
        response.body = HTTPResponseBody(Data(bytes))
    }

    /// Parses `bytes=first-last`, `bytes=first-` and `bytes=-length`.
    static func range(_ text: String, count: Int) -> Range<Int>? {
        guard let (unit, ranges) = text.cut(at: "="), ASCII.keyword(unit) == "bytes" else { return nil }
        let ends = ranges.split(at: "-", omittingEmpty: false).map { ASCII.trimmed($0) }
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else {
            return nil
        }
        let (first, last) = (Int(ends[0]), Int(ends[1]))
        switch (first, last) {
        case (let first?, let last?): return first <= last && first < count ? first..<min(last, count - 1) + 1 : nil
        case (let first?, nil): return ends[1].isEmpty && first < count ? first..<count : nil
        case (nil, let length?):
            return ends[0].isEmpty && length > 0 && count > 0 ? max(0, count - length)..<count : nil
        case (nil, nil): return nil
        }
    }
}

// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// The header fields in a part: Content-Disposition (RFC 7578, 4.2), Content-Type, then the others in order.
struct PartFields: Sendable {
    /// The lines, and the empty line after them.
    let lines: [UInt8]
    /// The rule that the fields violate. Nil if all are well formed.
    let brokenRule: String?
    /// The media type of the content. Nil if the part has none.
    let type: String?
    private let name: String?
    private let filename: String?
    private let headers: HTTPHeaders
    /// Whether `filename*` repeats the filename (RFC 8187).
    private let isExtended: Bool

    /// The name, the filename and the media type. Nil if the part has no name, an extended filename, or a custom header
    /// other than Content-Type.
    var form: (name: String, filename: String?, type: String?)? {
        guard let name, !isExtended, headers.allSatisfy({ $0.name == .contentType }) else { return nil }
        return (name, filename, type)
    }

    /// The name for descriptions, with control characters escaped.
    var shownName: String? { name.map { Redaction.visible($0) } }

    /// Creates the fields. Custom fields take precedence over derived ones, except that a part cannot have two names.
    init(
        _ name: String?, _ filename: String?, _ contentType: MediaType?, _ headers: HTTPHeaders,
        isExtended: Bool = false
    ) {
        (self.name, self.filename, self.headers, self.isExtended) = (name, filename, headers, isExtended)
        type = headers[.contentType] ?? contentType?.description ?? filename.map { MediaType.name(ofFile: $0) }
        brokenRule = headers.isEmpty && contentType == nil ? nil : Self.rule(name, type, headers)
        lines = Self.lines(name, filename, type, headers, isExtended)
    }

    /// The same fields with `filename*`.
    var extended: PartFields {
        PartFields(name, filename, type.map { MediaType(stringLiteral: $0) }, headers, isExtended: filename != nil)
    }

    /// Whether a form can contain the part. `Content-Disposition` may name it instead.
    var isOfForm: Bool { name != nil || headers.contains(.contentDisposition) }

    private static func lines(
        _ name: String?, _ filename: String?, _ type: String?, _ headers: HTTPHeaders, _ isExtended: Bool
    ) -> [UInt8] {
        var lines: [UInt8] = []
        lines.reserveCapacity(128)
        if let disposition = headers[.contentDisposition] {
            lines.append("Content-Disposition: \(disposition)\r\n")
        } else if name != nil || filename != nil {
            lines.append(name == nil ? "Content-Disposition: attachment" : "Content-Disposition: form-data; name=\"")
            if let name { lines.append(escaped(name, isName: true)) }
            if let filename {
                lines.append(name == nil ? "; filename=\"" : "\"; filename=\"")
                lines.append(escaped(filename, isName: false))
            }
            lines.append("\"")
            if isExtended, let filename {
                lines.append("; filename*=UTF-8''")
                lines.append(PercentEncoding.escape(filename, .unreserved))
            }
            lines.append("\r\n")
        }
        if let type {
            lines.append("Content-Type: ")
            lines.append(type)
            lines.append("\r\n")
        }
        for field in headers where field.name != .contentDisposition && field.name != .contentType {
            lines.append("\(field.name.rawValue): \(field.value)\r\n")
        }
        lines.append("\r\n")
        return lines
    }

    /// Returns a value with quotation marks and line breaks as `%22`, `%0D`, `%0A`. In a name, but not in a filename, a
    /// lone CR or LF is written as both (HTML, 4.10.21.8).
    private static func escaped(_ value: String, isName: Bool) -> String {
        if ASCII.allBytes(of: value, fit: { $0 != 0x22 && $0 != 0x0D && $0 != 0x0A }) { return value }
        let lineBreaks = isName ? [("\r\n", "\n"), ("\r", "\n"), ("\n", "\r\n")] : []
        return (lineBreaks + [("\"", "%22"), ("\r", "%0D"), ("\n", "%0A")]).reduce(value) {
            $0.replacingBytes(of: $1.0, with: $1.1)
        }
    }

    private static func rule(_ name: String?, _ type: String?, _ headers: HTTPHeaders) -> String? {
        if name != nil, headers.contains(.contentDisposition) {
            return "it has both a name and a Content-Disposition header (set only one of them)"
        }
        if headers.values(for: .contentDisposition).count > 1 {
            return "the Content-Disposition header is set more than once"
        }
        return headers.brokenBodyRule
            ?? type.flatMap { HTTPHeaders([HTTPHeaders.Field(.contentType, $0)]).brokenBodyRule }
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ text: String) { append(contentsOf: text.utf8) }
}

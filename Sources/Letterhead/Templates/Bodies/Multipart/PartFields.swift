// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// The header fields of a part: Content-Disposition (RFC 7578, 4.2), Content-Type, then the others in order.
///
/// They are written directly to the buffer that is sent. No intermediate values are created.
package struct PartFields: Sendable {
    /// The number of bytes of the lines, including the empty line after them.
    private(set) var count = 0
    /// The violated rule; nil if all fields are well formed.
    let brokenRule: String?
    /// The media type of the content.
    package let type: String?
    private let name: String?
    private let filename: String?
    private let headers: HTTPHeaders

    /// The name and the filename, if the part has a name and no custom header other than Content-Type; otherwise nil.
    package var form: (name: String, filename: String?)? {
        guard let name, headers.allSatisfy({ $0.name == .contentType }) else { return nil }
        return (name, filename)
    }

    /// The name for descriptions, with control characters escaped.
    var shownName: String? { name.map { Redaction.visible($0) } }

    /// Creates the fields. Custom fields take precedence over derived ones, except that a part cannot have two names.
    init(_ name: String?, _ filename: String?, _ contentType: MediaType?, _ headers: HTTPHeaders) {
        (self.name, self.filename, self.headers) = (name, filename, headers)
        let derived = contentType?.description ?? filename.map { MediaType.name(ofFile: $0) }
        if headers.isEmpty {
            type = derived
            brokenRule = contentType.flatMap { $0.brokenRule }
        } else {
            type = headers[.contentType] ?? derived
            brokenRule = Self.rule(name, type, headers)
        }
        var count = 0
        write { count += $0.count }
        self.count = count
    }

    var hasDisposition: Bool { name != nil || filename != nil || headers.contains(.contentDisposition) }

    /// The lines, and the empty line after them.
    var bytes: Data {
        var bytes = Data(capacity: count)
        write { bytes.append(contentsOf: $0) }
        return bytes
    }

    /// Writes the lines, and the empty line after them, in pieces.
    func write(_ put: (UnsafeRawBufferPointer) -> Void) {
        if let disposition = headers[.contentDisposition] {
            Self.write("Content-Disposition: ", disposition, put)
        } else {
            writeDisposition(put)
        }
        if let type { Self.write("Content-Type: ", type, put) }
        for field in headers where field.name != .contentDisposition && field.name != .contentType {
            Self.write(field.name.rawValue, put)
            Self.write(": ", field.value, put)
        }
        Self.write("\r\n", put)
    }

    private func writeDisposition(_ put: (UnsafeRawBufferPointer) -> Void) {
        if let name {
            Self.write("Content-Disposition: form-data; name=\"", put)
            Self.write(escaping: name, isName: true, put)
            Self.write("\"", put)
        } else if filename != nil {
            Self.write("Content-Disposition: attachment", put)
        } else {
            return
        }
        if let filename {
            Self.write("; filename=\"", put)
            Self.write(escaping: filename, isName: false, put)
            Self.write("\"", put)
        }
        Self.write("\r\n", put)
    }

    private static func rule(_ name: String?, _ type: String?, _ headers: HTTPHeaders) -> String? {
        if name != nil, headers.contains(.contentDisposition) {
            return "it has both a name and a Content-Disposition header; set only one of them"
        }
        if headers.values(for: .contentDisposition).count > 1 {
            return "the Content-Disposition header is set more than once"
        }
        return headers.brokenBodyRule
            ?? type.flatMap { HTTPHeaders([HTTPHeaders.Field(.contentType, $0)]).brokenBodyRule }
    }
}

extension PartFields {
    private static func write(_ head: StaticString, _ value: String, _ put: (UnsafeRawBufferPointer) -> Void) {
        write(head, put)
        write(value, put)
        write("\r\n", put)
    }

    private static func write(_ text: StaticString, _ put: (UnsafeRawBufferPointer) -> Void) {
        put(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private static func write(_ text: String, _ put: (UnsafeRawBufferPointer) -> Void) {
        var text = text
        text.withUTF8 { put(UnsafeRawBufferPointer($0)) }
    }

    /// Writes quotation marks and line breaks as `%22`, `%0D`, `%0A`. In a name, but not in a filename, a lone CR or LF
    /// is written as both (HTML, 4.10.21.8).
    private static func write(escaping value: String, isName: Bool, _ put: (UnsafeRawBufferPointer) -> Void) {
        var value = value
        value.withUTF8 { utf8 in
            let text = UnsafeRawBufferPointer(utf8)
            var start = 0
            for index in text.indices {
                let isBehindCR = index > 0 && text[index - 1] == 0x0D
                let escape: StaticString
                switch text[index] {
                case 0x22: escape = "%22"
                case 0x0D: escape = isName ? "%0D%0A" : "%0D"
                case 0x0A where isName: escape = isBehindCR ? "" : "%0D%0A"
                case 0x0A: escape = "%0A"
                default: continue
                }
                put(UnsafeRawBufferPointer(rebasing: text[start..<index]))
                write(escape, put)
                start = index + 1
            }
            put(UnsafeRawBufferPointer(rebasing: text[start...]))
        }
    }
}

extension MediaType {
    /// The rule that a literal violates; nil if it is valid.
    fileprivate var brokenRule: String? {
        let isWhole = !essence.isEmpty && description.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        return isWhole ? nil : HTTPHeaders([HTTPHeaders.Field(.contentType, description)]).brokenBodyRule
    }
}

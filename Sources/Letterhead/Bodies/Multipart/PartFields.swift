/// The header fields of a part: Content-Disposition (RFC 7578, 4.2), Content-Type, then the others in their order.
struct PartFields {
    /// The lines, and the empty one behind them.
    private(set) var bytes: [UInt8] = []
    /// Which rule they break; nil when all are well formed.
    private(set) var brokenRule: String?
    private(set) var hasDisposition = false
    private(set) var type: String?

    init(_ name: String?, _ filename: String?, _ contentType: MediaType?, _ headers: HTTPHeaders) {
        type = contentType?.description ?? filename.map { MediaType.name(ofFile: $0) }
        if headers.isEmpty {
            // 96 is more than the names of the fields and of their parameters take.
            bytes.reserveCapacity(
                96 + (name?.utf8.count ?? 0) + (filename?.utf8.count ?? 0) + (type?.utf8.count ?? 0))
            appendDisposition(name, filename)
            appendType()
            brokenRule = contentType.flatMap { $0.brokenRule }
        } else {
            append(headers, name, filename)
        }
        put("\r\n")
    }

    /// Fields of the caller's win over those that are derived, except that a part cannot have two names.
    private mutating func append(_ headers: HTTPHeaders, _ name: String?, _ filename: String?) {
        type = headers[.contentType] ?? type
        if let disposition = headers[.contentDisposition] {
            hasDisposition = true
            append("Content-Disposition", disposition)
        } else {
            appendDisposition(name, filename)
        }
        appendType()
        for field in headers where field.name != .contentDisposition && field.name != .contentType {
            append(field.name.rawValue, field.value)
        }
        let isNamedTwice = name != nil && headers.contains(.contentDisposition)
        brokenRule = isNamedTwice ? "it has a name, and a header Content-Disposition too" : headers.brokenBodyRule
        if brokenRule == nil, let type {
            brokenRule = HTTPHeaders([HTTPHeaders.Field(.contentType, type)]).brokenBodyRule
        }
    }

    private mutating func appendDisposition(_ name: String?, _ filename: String?) {
        guard name != nil || filename != nil else { return }
        hasDisposition = true
        put(name == nil ? "Content-Disposition: attachment" : "Content-Disposition: form-data")
        if let name {
            put("; name=\"")
            append(escaping: name, isName: true)
            put("\"")
        }
        if let filename {
            put("; filename=\"")
            append(escaping: filename, isName: false)
            put("\"")
        }
        put("\r\n")
    }

    private mutating func appendType() {
        if let type { append("Content-Type", type) }
    }

    private mutating func append(_ name: String, _ value: String) {
        append(name)
        put(": ")
        append(value)
        put("\r\n")
    }

    private mutating func put(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    /// Quotation marks and line breaks as `%22`, `%0D`, `%0A`; in a name, but not in a filename, a lone CR or LF counts
    /// as both (HTML, 4.10.21.8).
    private mutating func append(escaping value: String, isName: Bool) {
        var value = value
        let isPlain = value.withUTF8 { text in
            let isPlain = text.allSatisfy { $0 != 0x22 && $0 != 0x0D && $0 != 0x0A }
            if isPlain { bytes.append(contentsOf: text) }
            return isPlain
        }
        if isPlain { return }
        var last: UInt8 = 0
        for byte in value.utf8 {
            switch byte {
            case 0x22: put("%22")
            case 0x0D: put(isName ? "%0D%0A" : "%0D")
            case 0x0A where isName: put(last == 0x0D ? "" : "%0D%0A")
            case 0x0A: put("%0A")
            default: bytes.append(byte)
            }
            last = byte
        }
    }
}

extension MediaType {
    /// Which rule a value made of a literal breaks.
    fileprivate var brokenRule: String? {
        let isWhole = !essence.isEmpty && description.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        return isWhole ? nil : HTTPHeaders([HTTPHeaders.Field(.contentType, description)]).brokenBodyRule
    }
}

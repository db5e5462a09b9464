import Foundation

extension DecodingError {
    /// Where in the document, what was expected there, and what kind of value was found: never the value itself.
    var summary: String {
        switch self {
        case .keyNotFound(let key, let context):
            "\((context.codingPath + [key]).place): expected a value, found no such member"
        case .typeMismatch(let type, let context):
            "\(context.codingPath.place): expected \(type), found \(context.kindFound ?? "something else")"
        case .valueNotFound(let type, let context): "\(context.codingPath.place): expected \(type), found null"
        case .dataCorrupted(let context) where context.underlyingError is InvalidDocument:
            (context.codingPath.isEmpty ? "" : context.codingPath.suffix(3).place + ": ")
                + "\(context.underlyingError ?? InvalidDocument(""))"
        case .dataCorrupted(let context):
            context.codingPath.isEmpty ? "the data is malformed" : "\(context.codingPath.place): the value is malformed"
        @unknown default: "the data cannot be decoded"
        }
    }
}

extension DecodingError.Context {
    /// The kind of JSON value that the decoder names. Its text is searched for known words and not repeated: it may hold
    /// the value.
    fileprivate var kindFound: String? {
        guard let found = debugDescription.range(of: "found ", options: .backwards) else { return nil }
        let words = debugDescription[found.upperBound...].split { !$0.isLetter }.prefix(2)
        let kinds = [
            "string": "string", "number": "number", "bool": "boolean", "boolean": "boolean", "null": "null",
            "dictionary": "object", "array": "array",
        ]
        return words.lazy.compactMap { kinds[String($0).lowercased()] }.first
    }
}

extension [any CodingKey] {
    /// The path as it is written: `items[3].id`.
    var place: String {
        var text = ""
        for key in self {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += (text.isEmpty ? "" : ".") + key.segment
            }
        }
        return text.isEmpty ? "the top" : text
    }
}

extension CodingKey {
    /// A name of a dictionary may be the server's: control characters are shown, and no more than 64 characters.
    fileprivate var segment: String {
        Redaction.visible(stringValue.count > 64 ? stringValue.prefix(64) + "…" : stringValue)
    }
}

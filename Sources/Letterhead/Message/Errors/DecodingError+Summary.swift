import Foundation

extension DecodingError {
    /// The path in the document, the expected type, and the kind of value that was found. It never contains the value.
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
    /// The kind of JSON value that the decoder names. The decoder's description may contain the value, so it is only
    /// searched for known words.
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
    /// The path in Swift syntax: `items[3].id`.
    var place: String {
        var text = ""
        for key in self {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += (text.isEmpty ? "" : ".") + key.segment
            }
        }
        return text.isEmpty ? "the top level" : text
    }
}

extension CodingKey {
    /// One component of the path. Keys of a dictionary may come from the server, so control characters are escaped and
    /// the key is truncated to 64 characters.
    fileprivate var segment: String {
        let scalars = stringValue.unicodeScalars
        return Redaction.visible(scalars.count > 64 ? String(scalars.prefix(64)) + "…" : stringValue)
    }
}

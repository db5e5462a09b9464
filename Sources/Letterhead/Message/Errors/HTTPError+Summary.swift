// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// An error with a description that contains no secrets, so that messages and logs may include it.
package protocol SafelyDescribed: Error, CustomStringConvertible {}

extension HTTPBodyError: SafelyDescribed {}

extension HTTPError {
    /// Describes an error without secrets.
    ///
    /// Describes coding errors by path and reason, and errors from Foundation and the system by their cause. Of any
    /// other error, only `LocalizedError.errorDescription` is meant to be shown. Without it, the description is the
    /// type name and, for an enum, the case.
    package static func summary(of error: any Error) -> String {
        if let failure = URLLoadingFailure(error) { return failure.summary }
        return switch error {
        case let error as HTTPError: error.description
        case let error as DecodingError: error.summary
        case let error as EncodingError: error.summary
        // The text for a known number is a constant.
        case let error as POSIXError: unsafe "the system reports \(String(cString: strerror(error.code.rawValue)))"
        case let error as CocoaError: "\(cause(of: error)) (CocoaError \(error.code.rawValue))"
        case is CancellationError: "the task was cancelled"
        case let error as any SafelyDescribed: error.description
        case let error as any LocalizedError: error.errorDescription.map(shown) ?? name(of: error)
        default: name(of: error)
        }
    }

    private static func cause(of error: CocoaError) -> String {
        switch error.code {
        case .fileNoSuchFile, .fileReadNoSuchFile: "the file does not exist"
        case .fileReadNoPermission: "permission to read the file was denied"
        case .fileWriteNoPermission: "permission to write the file was denied"
        case .fileWriteFileExists: "the file exists already"
        case .fileWriteOutOfSpace: "there is no space left on the volume"
        case .fileWriteVolumeReadOnly: "the volume is read-only"
        case .fileReadTooLarge: "the file is too large"
        case .fileReadCorruptFile: "the file is damaged"
        case .fileReadInvalidFileName, .fileWriteInvalidFileName: "the name of the file is not allowed"
        case .fileLocking: "the file could not be locked"
        case .propertyListReadCorrupt: "the data is malformed"
        case .userCancelled: "the operation was cancelled"
        default: (error.underlying as? POSIXError).map(summary) ?? "Foundation reports an error"
        }
    }

    /// Truncates and redacts an error description from a different component, because its format is unknown.
    private static func shown(_ text: String) -> String {
        let redaction = Redaction.standard
        return Redaction.visible(redaction.redactURLs(redaction.redactJSON(String(text.unicodeScalars.prefix(500)))))
    }

    /// Returns the type name, and for an enum the case without its values.
    private static func name(of error: any Error) -> String {
        let type = String(describing: Swift.type(of: error))
        let isCustom = Swift.type(of: error) is any CustomStringConvertible.Type
        let mirror = Mirror(reflecting: error)
        guard mirror.displayStyle == .enum, !isCustom else { return type }
        let name = mirror.children.first.map { $0.label ?? "" } ?? String(describing: error)
        return !name.isEmpty && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } ? "\(type).\(name)" : type
    }
}

extension EncodingError {
    fileprivate var summary: String {
        switch self {
        case .invalidValue(_, let context):
            "the body cannot be encoded: invalid value at "
                + context.codingPath.place
        @unknown default: "the body cannot be encoded"
        }
    }
}

extension DecodingError {
    /// The path in the document, the expected type, and the kind of value that was found, without the value.
    var summary: String {
        switch self {
        case .keyNotFound(let key, let context):
            "\((context.codingPath + [key]).place): expected a value, found no such member"
        case .typeMismatch(let type, let context):
            "\(context.codingPath.place): expected \(Self.kind(of: type)), found \(context.kindFound ?? "something else")"
        case .valueNotFound(let type, let context):
            "\(context.codingPath.place): expected \(Self.kind(of: type)), found null"
        case .dataCorrupted(let context) where context.underlyingError is InvalidDocument:
            (context.codingPath.isEmpty ? "" : context.codingPath.suffix(3).place + ": ")
                + "\(context.underlyingError ?? InvalidDocument(""))"
        case .dataCorrupted(let context):
            if let unknown = context.unknownCase {
                "\(context.codingPath.place): \(unknown)"
            } else if context.codingPath.isEmpty {
                "the data is malformed"
            } else {
                "\(context.codingPath.place): the value is malformed"
            }
        @unknown default: "the data cannot be decoded"
        }
    }

    /// Decoders report a missing container as a dictionary or an array of any values, not as the model type.
    private static func kind(of type: Any.Type) -> String {
        let name = "\(type)"
        return name.begins(with: "Dictionary<") ? "an object" : name.begins(with: "Array<") ? "an array" : name
    }
}

extension DecodingError.Context {
    /// The kind of JSON value that the decoder found. The description from the decoder may contain the value, so this
    /// only searches it for known words.
    fileprivate var kindFound: String? {
        // A key may contain the word, and comes before the kind.
        var rest = Array(debugDescription.utf8)[...]
        guard rest.contains(Self.found) else { return nil }
        while let found = rest.firstRange(of: Self.found) { rest = rest[found.upperBound...] }
        let words = String(decoding: rest, as: UTF8.self).split { !$0.isLetter }.prefix(2)
        let kinds = [
            "string": "a string", "number": "a number", "bool": "a boolean", "boolean": "a boolean", "null": "null",
            "dictionary": "an object", "object": "an object", "array": "an array",
        ]
        return words.lazy.compactMap { kinds[String($0).lowercased()] }.first
    }

    private static let found = Array("found ".utf8)

    /// The enum that doesn't have a case for a value. The value may be secret, so it's left out.
    fileprivate var unknownCase: String? { unknown.map { "expected a case of \($0.type)" } }

    /// The enum, and the value that isn't one of its cases. The text in the standard library is
    /// `Cannot initialize State from invalid String value archived`.
    var unknown: (type: String, value: String)? {
        let text = Array(debugDescription.utf8.prefix(1024))
        let (start, middle, end) = ("Cannot initialize ", " from invalid ", " value ")
        guard text.starts(with: start.utf8), let before = text.firstRange(of: Array(middle.utf8)),
            let after = text[before.upperBound...].firstRange(of: Array(end.utf8))
        else { return nil }
        let type = String(decoding: text[start.utf8.count..<before.lowerBound], as: UTF8.self)
        return (type, String(decoding: text[after.upperBound...], as: UTF8.self))
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
    /// One path component. Dictionary keys may come from the server, so control characters are escaped and the key is
    /// truncated to 64 characters.
    fileprivate var segment: String {
        let scalars = stringValue.unicodeScalars
        return Redaction.visible(scalars.count > 64 ? String(scalars.prefix(64)) + "…" : stringValue)
    }
}

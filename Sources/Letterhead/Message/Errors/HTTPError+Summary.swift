import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An error whose description contains no secrets, so that messages and logs may include it.
package protocol SafelyDescribed: Error, CustomStringConvertible {}

extension HTTPBodyError: SafelyDescribed {}

extension HTTPError {
    /// Describes an error without secrets.
    ///
    /// Coding errors are described by path and reason, without values. Errors of Foundation and of the system are
    /// described by code or system message. For the errors of other components, only `LocalizedError.errorDescription`
    /// is meant to be shown. An error without such a description is described by the name of its type and, for an enum,
    /// of its case.
    static func summary(of error: any Error) -> String {
        switch error {
        case let error as HTTPError: error.message.isEmpty ? "\(error.code)" : "\(error.code): \(error.message)"
        case let error as DecodingError: error.summary
        case let error as EncodingError: error.summary
        case let error as URLError: "the network reports URLError \(error.code.rawValue)"
        case let error as POSIXError: "the system reports \(String(cString: strerror(error.code.rawValue)))"
        case let error as CocoaError: "Foundation reports CocoaError \(error.code.rawValue)"
        case is CancellationError: "the task was cancelled"
        case let error as any SafelyDescribed: error.description
        case let error as any LocalizedError: error.errorDescription.map(shown) ?? name(of: error)
        default: name(of: error)
        }
    }

    /// Truncates and redacts the description of an error of another component. The format of the description is
    /// unknown.
    private static func shown(_ text: String) -> String {
        let redaction = Redaction.standard
        return Redaction.visible(redaction.redactURLs(redaction.redactJSON(String(text.unicodeScalars.prefix(500)))))
    }

    /// Returns the name of the type, and for an enum the case without its values.
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
    /// A message with the path of the value that could not be encoded.
    fileprivate var summary: String {
        switch self {
        case .invalidValue(_, let context):
            "the body cannot be encoded: invalid value at "
                + context.codingPath.place
        @unknown default: "the body cannot be encoded"
        }
    }
}

public import Foundation

/// The body of a request breaks a rule: nothing of it is sent, or the sending breaks off.
///
/// Bodies throw it; a load that fails by it is `.invalidRequest` with this error underneath.
public struct InvalidBody: Error, CustomStringConvertible {
    /// What is wrong, without any value of the body.
    public let message: String
    /// The file that it is about; it is no part of ``description``.
    public let file: URL?

    /// Makes the error.
    ///
    /// - Parameters:
    ///   - message: what is wrong; name the field and the rule, never the value.
    ///   - file: the file that it is about. Default: none.
    public init(_ message: String, file: URL? = nil) {
        (self.message, self.file) = (message, file)
    }

    /// What is wrong.
    public var description: String { message }
}

/// A string that is never printed: a password, a token or a key.
///
/// ```swift
/// let password: Secret = "open sesame"
/// let token = Secret(keychain.token)
/// print(token)                        // <redacted>
/// ```
///
/// Descriptions, dumps and mirrors contain `<redacted>`. The type is not `Codable`, so that no document contains a
/// secret by accident. Call ``reveal()`` to read the string.
public struct Secret: Sendable, Hashable {
    private let text: String

    /// Wraps a string.
    public init(_ text: String) { self.text = text }

    /// Returns the string. Do not write it to logs or files.
    public func reveal() -> String { text }

    /// Whether the string is empty.
    public var isEmpty: Bool { text.isEmpty }
}

extension Secret: ExpressibleByStringLiteral {
    /// Wraps a literal.
    public init(stringLiteral value: String) { self.init(value) }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The string `<redacted>`.
    public var description: String { Redaction.placeholder }
    /// The string `<redacted>`.
    public var debugDescription: String { Redaction.placeholder }
    /// A mirror that contains only `<redacted>`, so that `dump` does not print the string.
    public var customMirror: Mirror { Mirror(describing: self) }
}

/// A text that is never printed: a password, a token or a key.
///
/// ```swift
/// let password: Secret = "open sesame"
/// let token = Secret(keychain.token)
/// print(token)                        // <redacted>
/// ```
///
/// Descriptions, dumps and mirrors contain `<redacted>`. The type is not `Codable`, so that no document contains a
/// secret by accident. Call ``reveal()`` to read the text.
public struct Secret: Sendable, Hashable {
    private let text: String

    /// Wraps a text.
    public init(_ text: String) { self.text = text }

    /// Returns the text. Do not write it to logs or files.
    public func reveal() -> String { text }

    /// Whether the text is empty.
    public var isEmpty: Bool { text.isEmpty }
}

extension Secret: ExpressibleByStringLiteral {
    /// Wraps a literal.
    public init(stringLiteral value: String) { self.init(value) }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text `<redacted>`.
    public var description: String { Redaction.mark }
    /// The text `<redacted>`.
    public var debugDescription: String { Redaction.mark }
    /// A mirror of `<redacted>` only, so that no dump prints the text.
    public var customMirror: Mirror { Mirror(describing: self) }
}

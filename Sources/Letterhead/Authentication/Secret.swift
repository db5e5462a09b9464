/// A text that no print shows: a password, a token, a key.
///
/// ```swift
/// let password: Secret = "open sesame"
/// let token = Secret(keychain.token)
/// print(token)                        // <redacted>
/// ```
///
/// Descriptions, dumps and mirrors say `<redacted>`, and it is not `Codable`, so that no document holds it by accident.
/// Whoever needs the text asks for it by name, with ``reveal()``.
public struct Secret: Sendable, Hashable {
    private let text: String

    /// Wraps a text.
    public init(_ text: String) { self.text = text }

    /// The text itself: hand it on, and keep it out of everything that is written down.
    public func reveal() -> String { text }

    /// Whether there is no text at all.
    public var isEmpty: Bool { text.isEmpty }
}

extension Secret: ExpressibleByStringLiteral {
    /// Wraps a literal.
    public init(stringLiteral value: String) { self.init(value) }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// `<redacted>`.
    public var description: String { Redaction.mark }
    /// `<redacted>`.
    public var debugDescription: String { Redaction.mark }
    /// The mark only, so that no dump prints the text.
    public var customMirror: Mirror { Mirror(describing: self) }
}

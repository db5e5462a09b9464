public import Foundation

/// A text, in the charset that its media type names.
///
/// ```swift
/// TextBody("hé")                                              // text/plain; charset=utf-8
/// TextBody(note, contentType: "text/markdown")                // text/markdown; charset=utf-8
/// TextBody(old, contentType: "text/plain; charset=iso-8859-1")
/// ```
public struct TextBody: HTTPBody {
    /// The text.
    public let text: String
    /// The headers that come with it.
    public var additionalHeaders: HTTPHeaders
    private let charset: String

    /// Makes a body of a text.
    ///
    /// A character that the charset cannot hold, or a charset that is not known here, is ``HTTPBodyError/invalid(_:file:)`` at the load.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - contentType: what it is; without a `charset` it is sent in, and labelled as, UTF-8. Default: text/plain.
    ///   - additionalHeaders: further headers; a Content-Type among them wins, but does not change the bytes. Default:
    ///     none.
    public init(_ text: String, contentType: MediaType = .plainText, additionalHeaders: HTTPHeaders = [:]) {
        self.text = text
        charset = contentType["charset"] ?? "utf-8"
        let isMalformed = contentType.essence.isEmpty
        let type =
            isMalformed || contentType["charset"] != nil ? contentType : contentType.setting("charset", to: "utf-8")
        self.additionalHeaders = additionalHeaders.describing(type)
    }

    /// Whether the text has no characters.
    public var isEmpty: Bool { text.isEmpty }

    /// How many bytes the text has in its charset; nil when it cannot be encoded.
    public var contentLength: Int? { isUTF8 ? text.utf8.count : try? encode().count }

    /// The text in its charset.
    ///
    /// - Throws: ``HTTPBodyError/invalid(_:file:)`` when the charset is not known, or cannot hold a character.
    public func encode() throws -> Data {
        if isUTF8 { return Data(text.utf8) }
        guard let encoding = TextEncoding.encoding(of: charset) else {
            throw HTTPBodyError.invalid("the charset of the text is not known here; use utf-8")
        }
        guard let data = text.data(using: encoding, allowLossyConversion: false) else {
            throw HTTPBodyError.invalid("the text holds a character that its charset cannot hold; use utf-8")
        }
        return data
    }

    private var isUTF8: Bool { ASCII.equalIgnoringCase(charset, "utf-8") }
}

extension TextBody: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The beginning of the text; of JSON or a form, the values of secret names are redacted.
    public var description: String { Redaction.standard.text(of: self, headers: additionalHeaders) }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// The redacted text only, so that no dump prints a secret.
    public var customMirror: Mirror { Mirror(describing: self) }
}

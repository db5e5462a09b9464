// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// A body that sends a string, encoded in the charset that its media type specifies. If you have the encoded bytes
/// already, use ``DataBody``.
///
/// ```swift
/// TextBody("hé")                                              // text/plain; charset=utf-8
/// TextBody(note, contentType: "text/markdown")                // text/markdown; charset=utf-8
/// TextBody(old, contentType: "text/plain; charset=iso-8859-1")
/// ```
public struct TextBody: HTTPBody, SteadyBody {
    /// The text that is sent.
    public let text: String
    /// The Content-Type of the body, and the additional headers that you passed.
    public var additionalHeaders: HTTPHeaders
    private let charset: String

    /// Creates a body from a string. Without a `charset` in the media type, the text is encoded in UTF-8, and the media
    /// type gets this charset. A Content-Type among the `additionalHeaders` takes precedence, but doesn't change the
    /// bytes.
    ///
    /// If the charset is unknown or cannot represent a character, sending fails with `.invalidRequest` and the
    /// underlying error ``HTTPBodyError/invalid(_:file:)``.
    public init(_ text: String, contentType: MediaType = .plainText, additionalHeaders: HTTPHeaders = [:]) {
        self.text = text
        charset = contentType["charset"] ?? "utf-8"
        let isMalformed = contentType.essence.isEmpty
        let type =
            isMalformed || contentType["charset"] != nil ? contentType : contentType.setting("charset", to: "utf-8")
        self.additionalHeaders = additionalHeaders.describing(type)
    }

    public var isEmpty: Bool { text.isEmpty }

    /// The number of bytes in the charset of the media type. Nil if the charset cannot represent the text.
    public var contentLength: Int? { isUTF8 ? text.utf8.count : try? encode().count }

    public func encode() throws -> Data {
        if isUTF8 { return Data(text.utf8) }
        guard let encoding = TextEncoding.encoding(of: charset) else {
            throw HTTPBodyError.invalid("the charset of the text is unknown (use utf-8)")
        }
        guard let data = text.data(using: encoding, allowLossyConversion: false) else {
            throw HTTPBodyError.invalid("the text contains a character that its charset cannot represent (use utf-8)")
        }
        return data
    }

    private var isUTF8: Bool { ASCII.equalIgnoringCase(charset, "utf-8") }
}

extension TextBody: CustomStringConvertible, CustomReflectable {
    /// The media type and the length.
    public var description: String { Redaction.outline(of: self, headers: additionalHeaders) }
    public var customMirror: Mirror { Mirror(describing: self) }
}

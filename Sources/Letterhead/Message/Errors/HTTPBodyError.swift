public import Foundation

/// The reason that a body cannot be sent, read or decoded.
///
/// Bodies, ``HTTPResponseBody`` and decoders throw it. A client reports it as the ``HTTPError/underlying`` error of an
/// ``HTTPError``: `.invalidRequest` for a request body that cannot be sent, `.responseTooLarge` for a response body
/// that is too large or does not fit into memory, `.cannotDecodeResponse` if no decoder reads the response,
/// `.validationFailed` if a validator throws it, and `.unknown` for ``alreadyRead`` and ``withheld`` in other cases.
public enum HTTPBodyError: Error, Sendable, Hashable {
    /// The body of a request breaks a rule. Either nothing is sent, or the upload is aborted.
    ///
    /// The message names the rule and contains no content of the body. It does not contain the URL of the file.
    case invalid(_ message: String, file: URL? = nil)

    /// The body provides its bytes only in chunks, but the whole body was requested.
    case notInMemory(type: String)

    /// A streamed body was iterated a second time. Its bytes are no longer available.
    case alreadyRead

    /// A streamed body was read by code that receives only the head of the response, such as a validator. Only the
    /// caller may read the body.
    case withheld

    /// The body has more bytes than this limit allows.
    case tooLarge(limit: Int)

    /// There is not enough memory for more than this number of bytes of the body.
    case outOfMemory(after: Int)

    /// No decoder reads this media type. It is nil for a response without a media type.
    case unreadable(mediaType: String?)

    /// The file that the error is about; nil for other errors.
    public var file: URL? { if case .invalid(_, let file) = self { file } else { nil } }
}

extension HTTPBodyError: CustomStringConvertible {
    /// The rule, and the remedy if there is one.
    public var description: String {
        switch self {
        case .invalid(let message, _): message
        case .notInMemory(let type): "\(type) provides its bytes in chunks only: use chunks(), or implement encode()"
        case .alreadyRead: "a streamed body can be read only once: keep the data, or request a buffered response"
        case .withheld: "validators receive only the head of a streamed response: check its status and headers"
        case .tooLarge(let limit): "the body is larger than the \(limit) bytes allowed"
        case .outOfMemory(let count): "there is not enough memory for more than \(count) bytes of the body"
        case .unreadable(let mediaType):
            "no decoder reads \(mediaType ?? "a response without a media type"): add one to MediaTypeDecoder"
        }
    }
}

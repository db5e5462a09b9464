public import Foundation

/// Why a body cannot be sent, read or decoded.
///
/// Bodies and ``HTTPResponseBody`` throw it. A client reports it as the ``HTTPError/underlying`` error of an ``HTTPError``:
/// `.invalidRequest` for a body that cannot be sent, `.responseTooLarge` for one that is too large, and
/// `.cannotDecodeResponse` for one that no decoder reads.
public enum HTTPBodyError: Error, Sendable, Hashable {
    /// The body of a request breaks a rule. Nothing of it is sent, or the upload ends there.
    ///
    /// The message names the field and the rule, never a value. The file, if there is one, is no part of ``description``.
    case invalid(_ message: String, file: URL? = nil)

    /// A body of this type provides its bytes only in chunks, and all of them were asked for at once.
    case notInMemory(type: String)

    /// A streamed body was iterated a second time. Its bytes are gone.
    case alreadyRead

    /// A validator read the body of a streamed response, which belongs to the caller.
    case withheld

    /// The body has more bytes than this limit allows.
    case tooLarge(limit: Int)

    /// No decoder reads this media type; nil for a response that names none.
    case unreadable(mediaType: String?)

    /// The file that the error is about; nil when there is none.
    public var file: URL? { if case .invalid(_, let file) = self { file } else { nil } }
}

extension HTTPBodyError: CustomStringConvertible {
    /// The rule and the remedy.
    public var description: String {
        switch self {
        case .invalid(let message, _): message
        case .notInMemory(let type): "\(type) provides its bytes in chunks only: use chunks(), or implement encode()"
        case .alreadyRead: "a streamed body can be read once: keep the data, or request a buffered response"
        case .withheld: "validators see the head of a streamed response only: judge by status and headers"
        case .tooLarge(let limit): "the body is larger than the \(limit) bytes allowed"
        case .unreadable(let mediaType): "no decoder reads \(mediaType ?? "a response without a media type")"
        }
    }
}

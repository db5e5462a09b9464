public import Foundation

/// The body of a request.
///
/// Use one of the bodies of the library: `JSONBody`, `FormBody`, `MultipartBody`, `DataBody`, `FileBody` and others. To
/// write one, implement ``encode()`` for a body that fits in memory, or ``chunks()`` for one that does not.
///
/// ```swift
/// struct LinesBody: HTTPBody {
///     let lines: [String]
///     var additionalHeaders: HTTPHeaders { ["Content-Type": "text/plain"] }
///     func encode() throws -> Data { Data(lines.joined(separator: "\n").utf8) }
/// }
/// ```
///
/// Laws:
/// - ``chunks()`` starts from the first byte each time it is called, unless ``isReplayable`` is false.
/// - The bytes are the same each time.
/// - A ``contentLength`` that is not nil is the exact number of bytes.
///
/// ``encode()`` or ``chunks()`` is called before anything is sent. If it throws, nothing is sent, and the request fails
/// with `.invalidRequest` and the underlying error. An ``HTTPError`` is thrown unchanged, and a `CancellationError`
/// becomes `.cancelled`.
///
/// Declare each member with exactly the type and the effects that it has here. Otherwise, Swift treats the declaration as
/// an unrelated member and uses the default: the headers of an `additionalHeaders: [String: String]` would not be sent.
/// The compiler warns about such a member if the conformance is declared in an extension: `extension LinesBody: HTTPBody`.
public protocol HTTPBody: Sendable {
    /// Whether the request has no body: neither bytes nor headers of a body. Default: false.
    var isEmpty: Bool { get }

    /// The headers of the body, such as its media type. The headers of the request take precedence. Default: empty.
    var additionalHeaders: HTTPHeaders { get }

    /// The number of bytes, if it is known before the body is encoded. Default: nil (not known).
    var contentLength: Int? { get }

    /// Whether the body can be sent again for a retry, a redirect or a token refresh. Default: true.
    var isReplayable: Bool { get }

    /// Returns the whole body in memory. Default: throws ``HTTPBodyError/notInMemory(type:)``.
    func encode() throws -> Data

    /// Returns the bytes from the first one, in pieces. Default: the result of ``encode()`` in one piece.
    func chunks() throws -> BodyChunks
}

extension HTTPBody {
    /// Returns false: the body is not empty.
    public var isEmpty: Bool { false }

    /// Returns no headers.
    public var additionalHeaders: HTTPHeaders { [:] }

    /// Returns nil: the length is not known.
    public var contentLength: Int? { nil }

    /// Returns true: the body can be sent again.
    public var isReplayable: Bool { true }

    /// Throws ``HTTPBodyError/notInMemory(type:)``.
    public func encode() throws -> Data { throw HTTPBodyError.notInMemory(type: String(describing: type(of: self))) }

    /// Returns the result of ``encode()`` in one piece.
    public func chunks() throws -> BodyChunks { BodyChunks(try encode()) }
}

/// The absence of a body: no bytes, and no headers of a body.
public struct EmptyBody: HTTPBody {
    /// Creates the empty body.
    public init() {}

    /// Returns true.
    public var isEmpty: Bool { true }

    /// Returns zero.
    public var contentLength: Int? { 0 }

    /// Returns no bytes.
    public func encode() -> Data { Data() }
}

public import Foundation

/// What a request carries.
///
/// Use: `JSONBody`, `FormBody`, `MultipartBody`, `DataBody`, `FileBody` and the others. Write one: give
/// ``encode()`` for a body that fits in memory, or ``chunks()`` for one that does not.
///
/// ```swift
/// struct LinesBody: HTTPBody {
///     let lines: [String]
///     var additionalHeaders: HTTPHeaders { ["Content-Type": "text/plain"] }
///     func encode() throws -> Data { Data(lines.joined(separator: "\n").utf8) }
/// }
/// ```
///
/// Laws: ``chunks()`` starts from the first byte each time it is asked, unless ``isReplayable`` is false; the bytes are
/// the same each time; a ``contentLength`` that is not nil is exactly how many they are. Encoding happens while the
/// request is sent, so an error that it throws is a failed load, `.invalidRequest` with that error inside, and nothing
/// is sent.
///
/// Declare each member with exactly the type that it has here. Swift takes a member of another type for something else and
/// uses the default, so the headers of an `additionalHeaders: [String: String]` would not be sent. A request with such a
/// body is `.invalidRequest`, naming the member and the right type.
public protocol HTTPBody: Sendable, _BodyMembers {
    /// Whether there is nothing to send: no bytes and no headers of a body. Default: false.
    var isEmpty: Bool { get }

    /// The headers that come with the body, such as its media type; those of the request win. Default: none.
    var additionalHeaders: HTTPHeaders { get }

    /// How many bytes it has, when that is known before they are made. Default: nil.
    var contentLength: Int? { get }

    /// Whether the bytes can be had again for a retry, a redirect or a refresh. Default: true.
    var isReplayable: Bool { get }

    /// The whole body in memory. Default: throws, as for a body that is only ever pulled in chunks.
    func encode() throws -> Data

    /// The bytes from the first one, pulled in pieces. Default: what ``encode()`` gives, in one piece.
    func chunks() throws -> BodyChunks
}

extension HTTPBody {
    /// Not empty.
    public var isEmpty: Bool { false }

    /// No headers.
    public var additionalHeaders: HTTPHeaders { [:] }

    /// Not known.
    public var contentLength: Int? { nil }

    /// Can be sent again.
    public var isReplayable: Bool { true }

    /// Says that the body can only be pulled in chunks.
    public func encode() throws -> Data { throw HTTPBodyError.notInMemory(type: String(describing: type(of: self))) }

    /// What ``encode()`` gives, in one piece.
    public func chunks() throws -> BodyChunks { BodyChunks(try encode()) }
}

/// No body: no bytes, and no header of a body.
public struct EmptyBody: HTTPBody {
    /// Makes it.
    public init() {}

    /// Always true.
    public var isEmpty: Bool { true }

    /// Always zero.
    public var contentLength: Int? { 0 }

    /// No bytes.
    public func encode() -> Data { Data() }
}

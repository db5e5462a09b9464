// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// The body of a request, in memory or in pieces.
///
/// ```swift
/// struct CreateUser: RequestTemplate {
///     typealias Response = User
///     let user: User
///     var method: HTTPMethod { .post }
///     var path: RequestPath { "users" }
///     var body: some HTTPBody { JSONBody(user) }
/// }
/// ```
///
/// ## Use a body
///
/// The library has ``JSONBody``, ``FormBody``, ``MultipartBody``, ``DataBody``, ``FileBody`` and ``StreamBody``.
/// <doc:SendingBodies> describes when to use which.
///
/// The transport calls ``encode()`` or ``chunks()`` before it sends anything. If the call throws, nothing is sent, and
/// the request fails with `.invalidRequest` and the underlying error. An ``HTTPError`` from the call is thrown
/// unchanged, and a `CancellationError` becomes `.cancelled`.
///
/// ## Implement a body
///
/// Write your own for a different format. Implement ``encode()`` for a body that fits in memory, or ``chunks()`` for
/// one that doesn't:
///
/// ```swift
/// struct LinesBody: HTTPBody {
///     let lines: [String]
///     var additionalHeaders: HTTPHeaders { ["Content-Type": "text/plain"] }
///     func encode() throws -> Data { Data(lines.joined(separator: "\n").utf8) }
/// }
/// ```
///
/// Declare each member with exactly the type and the effects that it has here. Otherwise, Swift treats it as an
/// unrelated member and uses the default. Conform in an extension, `extension LinesBody: HTTPBody`, and the compiler
/// warns about such a member.
///
/// Laws:
/// - ``chunks()`` starts from the first byte each time it is called, unless ``isReplayable`` is false.
/// - Pieces that aren't in memory have the same bytes each time. The result of ``encode()`` may differ between calls,
///   because a request keeps the first one and sends it with every attempt.
/// - A ``contentLength`` that isn't nil is the exact number of bytes.
public protocol HTTPBody: Sendable {
    /// Whether the request has no body: it sends neither bytes nor the additional headers. Default: false.
    var isEmpty: Bool { get }

    /// Headers that describe the body, such as its media type. Request headers take precedence. Default: empty.
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
    public var isEmpty: Bool { false }

    public var additionalHeaders: HTTPHeaders { [:] }

    public var contentLength: Int? { nil }

    public var isReplayable: Bool { true }

    public func encode() throws -> Data { throw HTTPBodyError.notInMemory(type: String(describing: type(of: self))) }

    public func chunks() throws -> BodyChunks { BodyChunks(try encode()) }
}

/// The body of a request that has none. It sends no bytes and no headers.
public struct EmptyBody: HTTPBody {
    /// Creates an empty body, to remove the body of a request or a template.
    public init() {}

    public var isEmpty: Bool { true }

    public var contentLength: Int? { 0 }

    public func encode() -> Data { Data() }
}

/// The bytes of a request body as an asynchronous sequence. Each piece is produced when the reader requests it.
///
/// Iterate it once. ``HTTPBody/chunks()`` returns a new one. If ``length`` is known, the iteration enforces it: more or
/// fewer bytes are ``HTTPBodyError/invalid(_:file:)``, so that the announced length is the length that is sent.
public struct BodyChunks: AsyncSequence, Sendable {
    /// The whole body if it is in memory, otherwise nil.
    public let data: Data?
    /// The number of bytes, or nil if it isn't known.
    public let length: Int?
    private let pull: @Sendable () async throws -> Data?

    /// Creates a sequence with a single piece.
    public init(_ data: Data) {
        self.data = data
        length = data.count
        pull = { nil }
    }

    /// Creates a sequence from a closure that returns the next piece.
    ///
    /// - Parameters:
    ///   - length: the number of bytes in all pieces. Default: nil (not known).
    ///   - pull: returns the next piece, or nil at the end. It isn't called again after nil or an error.
    public init(length: Int? = nil, pull: @escaping @Sendable () async throws -> Data?) {
        data = nil
        self.length = length
        self.pull = pull
    }

    /// Returns the same bytes, and requires them to have a certain length. A length of nil changes nothing.
    ///
    /// - Throws: ``HTTPBodyError/invalid(_:file:)`` if the length is negative or differs from the known one.
    public func held(to length: Int?) throws(HTTPBodyError) -> BodyChunks {
        guard let length else { return self }
        guard length >= 0 else { throw HTTPBodyError.invalid("the contentLength of the body is negative") }
        guard let known = self.length else { return BodyChunks(length: length, pull: pull) }
        guard known == length else {
            throw HTTPBodyError.invalid("the body has \(known) bytes, but its contentLength is \(length)")
        }
        return self
    }

    public func makeAsyncIterator() -> Iterator { Iterator(first: data, length: length, pull: pull) }

    /// An iterator over the pieces of a request body, which also checks their total length.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        private var first: Data?
        private var missing: Int?
        private let length: Int?
        private var isAtEnd = false
        private let pull: @Sendable () async throws -> Data?

        fileprivate init(first: Data?, length: Int?, pull: @escaping @Sendable () async throws -> Data?) {
            (self.first, self.length, self.pull) = (first, length, pull)
            missing = first == nil ? length : nil
        }

        /// Returns the next piece, or nil at the end. Empty pieces are skipped.
        ///
        /// If the length is known, the last piece is returned only after the body has ended. A caller that stops at the
        /// length can therefore not send the beginning of a longer body.
        ///
        /// - Throws: ``HTTPBodyError/invalid(_:file:)`` if there are more or fewer bytes than the length,
        ///   `CancellationError`, and errors from the body.
        public mutating func next() async throws -> Data? {
            if let first, !first.isEmpty {
                self.first = nil
                return first
            }
            guard !isAtEnd else { return nil }
            isAtEnd = true
            guard let chunk = try await pulled() else {
                // A stream may end early because its task was cancelled. The body isn't complete then.
                try Task.checkCancellation()
                if let missing, missing > 0 { throw wrongLength("ended \(missing) bytes short of") }
                return nil
            }
            if let missing {
                self.missing = missing - chunk.count
                let goesOn = missing == chunk.count ? try await pulled() != nil : false
                guard missing >= chunk.count, !goesOn else { throw wrongLength("exceeds") }
            }
            isAtEnd = missing == 0
            return chunk
        }

        /// Calls ``next()``, for a `for` loop.
        public mutating func next(isolation actor: (any Actor)?) async throws -> Data? { try await next() }

        private func pulled() async throws -> Data? {
            while let chunk = try await pull() {
                if !chunk.isEmpty { return chunk }
            }
            return nil
        }

        private func wrongLength(_ what: String) -> HTTPBodyError {
            HTTPBodyError.invalid("the body \(what) its contentLength of \(length ?? 0) bytes")
        }
    }
}

/// The reason that a body can't be sent, read or decoded.
///
/// Bodies, ``HTTPResponseBody`` and decoders throw it. A client reports it as the ``HTTPError/underlying`` error of an
/// ``HTTPError`` with one of these codes:
/// - `.invalidRequest`: a request body can't be sent.
/// - `.responseTooLarge`: a response body is too large or doesn't fit into memory.
/// - `.cannotDecodeResponse`: no decoder reads the response.
/// - `.validationFailed`: a validator threw the error.
/// - `.unknown`: ``alreadyRead`` and ``withheld`` in other cases.
public enum HTTPBodyError: Error, Sendable, Hashable {
    /// The request body breaks a rule. Either nothing is sent, or the upload is aborted.
    ///
    /// The message names the rule. It contains neither bytes from the body nor the URL of a file.
    case invalid(_ message: String, file: URL? = nil)

    /// The whole body was requested, but it provides its bytes only in chunks.
    case notInMemory(type: String)

    /// A streamed body was iterated a second time, when its bytes were no longer available.
    case alreadyRead

    /// Code that receives only a response head, such as a validator, tried to read a streamed body. Only the caller may
    /// read it.
    case withheld

    /// The body has more bytes than this limit allows.
    case tooLarge(limit: Int)

    /// There isn't enough memory for more than this number of bytes.
    case outOfMemory(after: Int)

    /// No decoder reads this media type. It is nil if the response has none.
    case unreadable(mediaType: String?)

    /// The file that the body reads, if that is why it can't be sent.
    public var file: URL? { if case .invalid(_, let file) = self { file } else { nil } }
}

extension HTTPBodyError: CustomStringConvertible {
    /// The cause and the remedy on one line, without bytes from the body.
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

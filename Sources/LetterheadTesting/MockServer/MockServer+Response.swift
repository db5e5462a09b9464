public import Foundation
public import Letterhead

extension MockServer {
    /// What the server answers.
    ///
    /// ```swift
    /// MockServer.Response(status: 404)
    /// MockServer.Response(status: 302, headers: ["Location": "/next"])
    /// try MockServer.Response.json(User(id: 1))
    /// MockServer.Response(chunks: stream)    // sent in chunks, as the sequence gives them
    /// ```
    ///
    /// The server adds what frames the message and nothing else: `Content-Length` for ``body``, `Transfer-Encoding:
    /// chunked` for a sequence or for trailers, `Connection` when the connection is to end. What you set yourself
    /// stays: a `Content-Length` of your own goes out even where it lies (the connection is closed behind the body
    /// then), and with a `Transfer-Encoding` of your own the body is taken for framed already. An answer to HEAD, and
    /// one with a status of 1xx, 204 or 304, goes out without its body.
    public struct Response: Sendable {
        /// Sends the chunks of a body, one call a chunk.
        typealias Chunks = @Sendable (_ send: @Sendable (Data) async throws -> Void) async throws -> Void

        /// The status; its registered phrase is sent with it.
        public var status: HTTPStatus
        /// The header fields, sent in this order and spelling.
        public var headers: HTTPHeaders
        /// The body; empty, and not to be set, for an answer made of chunks.
        public var body: Data
        /// Fields sent behind the body, which is chunked when there are any (RFC 9110, 6.5).
        public var trailers: HTTPHeaders = [:]
        /// Answers with a status of 1xx that go out before this one, such as 103 Early Hints; heads only.
        public var informational: [Response] = []
        var chunks: Chunks?
        var faults: [Fault] = []

        /// An answer with a body in memory.
        ///
        /// - Parameters:
        ///   - status: Default: 200.
        ///   - headers: Default: none; no `Content-Type` is added.
        ///   - body: Default: empty.
        public init(status: HTTPStatus = .ok, headers: HTTPHeaders = [:], body: Data = Data()) {
            self.status = status
            self.headers = headers
            self.body = body
        }

        /// An answer whose body arrives piece by piece: a chunk is sent for each element that is not empty.
        ///
        /// The next element is asked for when the last one is on its way. An error from the sequence ends the
        /// connection inside the body, and is a ``Record/failures``. When the client leaves, the task that iterates is
        /// cancelled.
        public init<Chunks: AsyncSequence & Sendable>(
            status: HTTPStatus = .ok, headers: HTTPHeaders = [:], chunks: Chunks
        ) where Chunks.Element == Data {
            self.init(status: status, headers: headers)
            self.chunks = { send in
                for try await chunk in chunks where !chunk.isEmpty { try await send(chunk) }
            }
        }

        /// An answer in JSON, with its `Content-Type`.
        ///
        /// - Throws: what the encoder throws.
        public static func json(
            _ value: some Encodable, status: HTTPStatus = .ok, encoder: JSONEncoder = JSONEncoder()
        ) throws -> Response {
            Response(status: status, headers: ["Content-Type": "application/json"], body: try encoder.encode(value))
        }

        /// An answer in plain text, with its `Content-Type`.
        public static func text(_ text: String, status: HTTPStatus = .ok) -> Response {
            Response(status: status, headers: ["Content-Type": "text/plain; charset=utf-8"], body: Data(text.utf8))
        }
    }
}

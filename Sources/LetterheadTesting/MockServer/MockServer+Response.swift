// SPDX-License-Identifier: MIT
public import LetterheadFoundation
public import Letterhead

extension MockServer {
    /// A response from the server.
    ///
    /// ```swift
    /// MockServer.Response(status: 404)
    /// MockServer.Response(status: 302, headers: ["Location": "/next"])
    /// try MockServer.Response.json(User(id: 1))
    /// MockServer.Response(chunks: stream)    // one chunk for each element of the sequence
    /// ```
    ///
    /// The server adds only these headers: `Content-Length` for ``body``, `Transfer-Encoding: chunked` for a sequence
    /// or for trailers, and `Connection` if the connection closes after the response or the request is HTTP/1.0. It
    /// doesn't change headers that you set. It sends a custom `Content-Length` even if it is wrong, and then closes the
    /// connection after the body. With a custom `Transfer-Encoding`, the server sends the bytes from the body or the
    /// sequence unchanged, so encode them yourself. It sends no body in responses to HEAD, in successful responses to
    /// CONNECT, and with a 1xx status, 204 or 304.
    public struct Response: Sendable {
        /// A function that sends one body chunk with each call.
        typealias Chunks = @Sendable (_ send: @Sendable (Data) async throws -> Void) async throws -> Void

        /// The status. The server adds the registered reason phrase.
        public var status: HTTPStatus
        /// The header fields. The server sends them in this order and spelling.
        public var headers: HTTPHeaders
        /// The body. For a response with a chunk sequence, it is empty, and you must not set it.
        public var body: Data
        /// The fields after the body. If there are any, the server sends the body in chunks (RFC 9110, 6.5). It doesn't
        /// send them with a custom `Content-Length` or `Transfer-Encoding`, or in response to an HTTP/1.0 request.
        public var trailers: HTTPHeaders = [:]
        /// Responses with a 1xx status that the server sends before this one, such as 103 Early Hints. They have no
        /// body.
        public var informational: [Response] = []
        var chunks: Chunks?
        var faults: [Fault] = []

        /// Creates a response with a body in memory.
        ///
        /// - Parameters:
        ///   - status: the status. Default: 200.
        ///   - headers: the headers. No `Content-Type` is added. Default: empty.
        ///   - body: the body. Default: empty.
        public init(status: HTTPStatus = .ok, headers: HTTPHeaders = [:], body: Data = Data()) {
            self.status = status
            self.headers = headers
            self.body = body
        }

        /// Creates a response with a streamed body. The server sends one chunk for each element that isn't empty.
        ///
        /// The server requests the next element after it has sent the previous one. An error in the sequence truncates
        /// the body, closes the connection, and appears in ``Record/failures``. If the client closes the connection,
        /// the task that iterates over the sequence is cancelled.
        public init<Chunks: AsyncSequence & Sendable>(
            status: HTTPStatus = .ok, headers: HTTPHeaders = [:], chunks: Chunks
        ) where Chunks.Element == Data {
            self.init(status: status, headers: headers)
            self.chunks = { send in
                for try await chunk in chunks where !chunk.isEmpty { try await send(chunk) }
            }
        }

        /// Returns a response with JSON and its `Content-Type`.
        ///
        /// - Throws: the encoder's error.
        public static func json(
            _ value: some Encodable, status: HTTPStatus = .ok, encoder: JSONEncoder = JSONEncoder()
        ) throws -> Response {
            Response(status: status, headers: ["Content-Type": "application/json"], body: try encoder.encode(value))
        }

        /// Returns a response with plain text and its `Content-Type`.
        public static func text(_ text: String, status: HTTPStatus = .ok) -> Response {
            Response(status: status, headers: ["Content-Type": "text/plain; charset=utf-8"], body: Data(text.utf8))
        }
    }
}

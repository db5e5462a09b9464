// SPDX-License-Identifier: MIT
public import LetterheadFoundation
public import Letterhead

extension MockServer {
    /// A response of the server.
    ///
    /// ```swift
    /// MockServer.Response(status: 404)
    /// MockServer.Response(status: 302, headers: ["Location": "/next"])
    /// try MockServer.Response.json(User(id: 1))
    /// MockServer.Response(chunks: stream)    // one chunk for each element of the sequence
    /// ```
    ///
    /// The server adds only these headers: `Content-Length` for ``body``, `Transfer-Encoding: chunked` for a sequence
    /// or for trailers, and `Connection` if the connection is closed after the response or the request is HTTP/1.0.
    /// Headers that you set are not changed. A custom `Content-Length` is sent even if it is wrong. If it is wrong, the
    /// connection is closed after the body. With a custom `Transfer-Encoding`, the server sends the bytes of the body
    /// or the sequence unchanged, so encode them yourself. Responses to HEAD, successful responses to CONNECT, and
    /// responses with a status of 1xx, 204 or 304 are sent without a body.
    public struct Response: Sendable {
        /// A function that sends the chunks of a body, with one call for each chunk.
        typealias Chunks = @Sendable (_ send: @Sendable (Data) async throws -> Void) async throws -> Void

        /// The status. It is sent with its registered reason phrase.
        public var status: HTTPStatus
        /// The header fields. They are sent in this order and spelling.
        public var headers: HTTPHeaders
        /// The body. For a response with a sequence of chunks, the body is empty and must not be set.
        public var body: Data
        /// The fields after the body. If there are any, the body is sent in chunks (RFC 9110, 6.5). They are not sent
        /// with a custom `Content-Length` or `Transfer-Encoding`, or in a response to an HTTP/1.0 request.
        public var trailers: HTTPHeaders = [:]
        /// Responses with a status of 1xx that are sent before this response, such as 103 Early Hints. They are sent
        /// without a body.
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

        /// Creates a response with a streamed body. One chunk is sent for each element that is not empty.
        ///
        /// The next element is requested after the previous one has been sent. An error of the sequence truncates the
        /// body, closes the connection, and is recorded in ``Record/failures``. If the client closes the connection,
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
        /// - Throws: the error of the encoder.
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

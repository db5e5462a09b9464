// SPDX-License-Identifier: MIT
public import LetterheadFoundation
public import Letterhead

extension MockServer {
    /// A request as it was received, without decoding.
    ///
    /// ```swift
    /// let request = server.requests[0]
    /// #expect(request.method == .post && request.path == "/users/a%2Fb")
    /// #expect(request.queryValue("page") == "2")
    /// #expect(request.headers.values(for: "Accept") == ["application/json"])
    /// ```
    public struct Request: Sendable {
        /// The method from the request line.
        public let method: HTTPMethod
        /// The undecoded target from the request line: `/users?page=2`, or an absolute URL if the client uses the
        /// server as a proxy.
        public let target: String
        /// The version from the request line, `HTTP/1.1` or `HTTP/1.0`.
        public let version: String
        /// The header fields in their original order and spelling. Several fields may have the same name.
        public let headers: HTTPHeaders
        /// The connection number, starting at 1, as in ``Record/connections``.
        public let connection: Int
        /// The body without chunked framing. The server keeps at most ``Configuration/keptBodySize`` bytes.
        public internal(set) var body = Data()
        /// The body length in bytes, including bytes that were not kept.
        public internal(set) var bodySize = 0
        /// The trailer fields after a chunked body (RFC 9110, 6.5).
        public internal(set) var trailers: HTTPHeaders = [:]
        /// Whether the whole body was received. It is false if the client or a fault ended the connection earlier.
        public internal(set) var isComplete = false

        init(head: RequestHead, connection: Int) {
            method = HTTPMethod(head.method)
            target = head.target
            version = head.version
            headers = head.headers
            self.connection = connection
        }

        /// The escaped target path, without the query.
        public var path: String { origin.cut(at: "?").map { String($0.head) } ?? origin }

        /// The escaped target query without the `?`, or nil if the target has no `?`.
        public var query: String? { origin.cut(at: "?").map { String($0.tail) } }

        /// Returns the first value for a name in the query, decoded like a form: `%XX` is a byte, and `+` is a space.
        ///
        /// The value is nil if the name is missing, and empty if the name has no value.
        public func queryValue(_ name: String) -> String? { queryValues(name).first }

        /// Returns all values for a name in the query, decoded and in order.
        public func queryValues(_ name: String) -> [String] {
            PercentEncoding.formItems(of: query ?? "").filter { $0.name.isSame(as: name) }.map(\.value)
        }

        /// The target without the scheme and the authority, which a client sends only to a proxy.
        private var origin: String {
            let parts = URLParts(target)
            guard parts.scheme != nil, parts.authority != nil else { return target }
            return (parts.path.isEmpty && parts.query == nil ? "/" : parts.path) + (parts.query.map { "?" + $0 } ?? "")
        }
    }
}

extension MockServer.Request: CustomStringConvertible {
    /// The method and the path. It has no query, headers or body, because they may contain secrets.
    public var description: String { "\(method) \(path)" }
}

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
    /// The server adds only the headers that the connection needs:
    ///
    /// - It adds `Content-Length` for ``body``, and `Transfer-Encoding: chunked` for a sequence or for trailers. It
    ///   adds `Connection` if the connection closes after the response, or if the request is HTTP/1.0.
    /// - It doesn't change headers that you set. If you set a wrong `Content-Length`, the server sends it, and closes
    ///   the connection after the body.
    /// - If you set a `Transfer-Encoding`, the server sends the bytes from the body or the sequence unchanged, so
    ///   encode them yourself.
    /// - It sends no body in responses to HEAD, in successful responses to CONNECT, and with a 1xx status, 204 or 304.
    public struct Response: Sendable {
        /// A function that passes each chunk of the body to `send`.
        typealias Chunks = @Sendable (_ send: @Sendable (Data) async throws -> Void) async throws -> Void

        /// The status. The server adds the registered reason phrase.
        public var status: HTTPStatus
        /// The header fields. The server sends them in this order and spelling.
        public var headers: HTTPHeaders
        /// The body. If the response has a sequence of chunks, the body is empty, and you must not set it.
        public var body: Data
        /// The fields after the body. If there are any, the server sends the body in chunks (RFC 9110, 6.5). They
        /// aren't sent if the response has a custom `Content-Length` or `Transfer-Encoding`, or if the request is
        /// HTTP/1.0.
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
        /// The server requests an element after it has sent the previous one. If the sequence throws an error, the body
        /// is truncated, the connection closes, and the error appears in ``Record/failures``. If the client closes the
        /// connection, the task that iterates over the sequence is cancelled.
        public init<Chunks: AsyncSequence & Sendable>(
            status: HTTPStatus = .ok, headers: HTTPHeaders = [:], chunks: Chunks
        ) where Chunks.Element == Data {
            self.init(status: status, headers: headers)
            self.chunks = { send in
                for try await chunk in chunks where !chunk.isEmpty { try await send(chunk) }
            }
        }

        /// Returns a response with a value as JSON, and the `Content-Type` for it.
        ///
        /// - Throws: an error from the encoder.
        public static func json(
            _ value: some Encodable, status: HTTPStatus = .ok, encoder: JSONEncoder = JSONEncoder()
        ) throws -> Response {
            Response(status: status, headers: ["Content-Type": "application/json"], body: try encoder.encode(value))
        }

        /// Returns a response with plain text, and the `Content-Type` for it.
        public static func text(_ text: String, status: HTTPStatus = .ok) -> Response {
            Response(status: status, headers: ["Content-Type": "text/plain; charset=utf-8"], body: Data(text.utf8))
        }
    }
}

// SPDX-License-Identifier: MIT
public import LetterheadFoundation
public import Letterhead

extension MockServer {
    /// A request as it was received, without any decoding.
    ///
    /// ```swift
    /// let request = server.requests[0]
    /// #expect(request.method == .post && request.path == "/users/a%2Fb")
    /// #expect(request.queryValue("page") == "2")
    /// #expect(request.headers.values(for: "Accept") == ["application/json"])
    /// ```
    public struct Request: Sendable {
        /// The request line's method.
        public let method: HTTPMethod
        /// The request line's undecoded target: `/users?page=2`, or an absolute URL if the client uses the server as a
        /// proxy.
        public let target: String
        /// The request line's version, `HTTP/1.1` or `HTTP/1.0`.
        public let version: String
        /// The header fields in their original order and spelling. Several fields may have the same name.
        public let headers: HTTPHeaders
        /// The connection's number, starting at 1, as in ``Record/connections``.
        public let connection: Int
        /// The body without chunked framing. The server keeps at most ``Configuration/keptBodySize`` bytes.
        public internal(set) var body = Data()
        /// The body's length in bytes, including bytes that were not kept.
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

        /// The target's escaped path, without the query.
        public var path: String { origin.cut(at: "?").map { String($0.head) } ?? origin }

        /// The target's escaped query without the `?`, or nil if the target has no `?`.
        public var query: String? { origin.cut(at: "?").map { String($0.tail) } }

        /// Returns a name's first value in the query, decoded like a form: `%XX` is a byte, and `+` is a space.
        ///
        /// The value is nil if the name is missing, and empty for a name without a value.
        public func queryValue(_ name: String) -> String? { queryValues(name).first }

        /// Returns all a name's values in the query, decoded and in order.
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

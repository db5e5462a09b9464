public import Foundation
public import Letterhead

extension MockServer {
    /// What a client sent, as it stood on the wire.
    ///
    /// ```swift
    /// let request = server.requests[0]
    /// #expect(request.method == .post && request.path == "/users/a%2Fb")
    /// #expect(request.queryValue("page") == "2")
    /// #expect(request.headers.values(for: "Accept") == ["application/json"])
    /// ```
    public struct Request: Sendable {
        /// The method of the request line.
        public let method: HTTPMethod
        /// The target of the request line, nothing decoded: `/users?page=2`, or a whole URL when the client takes the
        /// server for a proxy.
        public let target: String
        /// The version of the request line, `HTTP/1.1` or `HTTP/1.0`.
        public let version: String
        /// The header fields in the order and the spelling in which they came, repeats included.
        public let headers: HTTPHeaders
        /// The number of the connection that it came on, from 1; see ``Record/connections``.
        public let connection: Int
        /// The body, after chunked framing is undone; at most ``Configuration/keptBodySize`` bytes of it.
        public internal(set) var body = Data()
        /// How many bytes the body had, those that were not kept included.
        public internal(set) var bodySize = 0
        /// The fields behind a chunked body (RFC 9110, 6.5).
        public internal(set) var trailers: HTTPHeaders = [:]
        /// Whether the whole body came; false when the connection ended, or was ended by a fault, before that.
        public internal(set) var isComplete = false

        init(head: RequestHead, connection: Int) {
            method = HTTPMethod(head.method)
            target = head.target
            version = head.version
            headers = head.headers
            self.connection = connection
        }

        /// The path of the target, still escaped, without the query.
        public var path: String { String(origin.prefix { $0 != "?" }) }

        /// The query of the target, still escaped and without its `?`; nil when there is no `?`.
        public var query: String? {
            let target = origin
            guard let mark = target.firstIndex(of: "?") else { return nil }
            return String(target[target.index(after: mark)...])
        }

        /// The first value of a name in the query, decoded as servers decode forms: `%XX` is a byte, `+` is a blank.
        ///
        /// nil when the name is not there; empty for a name without a value.
        public func queryValue(_ name: String) -> String? { queryValues(name).first }

        /// All values of a name in the query, decoded, in order.
        public func queryValues(_ name: String) -> [String] {
            (query ?? "").split(separator: "&").compactMap { item in
                let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard let first = parts.first, Self.decoded(first) == name else { return nil }
                return parts.count > 1 ? Self.decoded(parts[1]) : ""
            }
        }

        /// The target without scheme and authority, which a client sends to a proxy only.
        private var origin: Substring {
            guard let scheme = target.range(of: "://"), !target.hasPrefix("/") else { return target[...] }
            let rest = target[scheme.upperBound...]
            return rest.firstIndex { $0 == "/" || $0 == "?" }.map { rest[$0...] } ?? "/"
        }

        private static func decoded(_ text: Substring) -> String {
            PercentEncoding.unescape(text.replacing("+", with: " "))
        }
    }
}

extension MockServer.Request: CustomStringConvertible {
    /// The method and the path; no query, header or body, which may hold secrets.
    public var description: String { "\(method) \(path)" }
}

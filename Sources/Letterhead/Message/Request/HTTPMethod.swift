// SPDX-License-Identifier: MIT
/// The method of a request (RFC 9110, 9). Set it in a ``RequestTemplate``. ``Get``, ``Post`` and their neighbors have a
/// fixed one.
///
/// Any method is allowed: write `HTTPMethod("PURGE")`, or `"PURGE"` where a method is expected. Methods are
/// case-sensitive. A method that isn't a token (RFC 9110, 5.6.2) fails with ``HTTPError/Code/invalidRequest`` before
/// anything is sent.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The method as it is sent, such as `GET`.
    public let rawValue: String

    /// Creates a method from any string. It keeps the case of the letters.
    public init(_ text: String) { rawValue = text }

    /// Creates a method from any string, like ``init(_:)``.
    public init(rawValue: String) { self.rawValue = rawValue }

    public init(stringLiteral value: String) { rawValue = value }

    /// Whether the method only reads (RFC 9110, 9.2.1): GET, HEAD, OPTIONS, TRACE and QUERY.
    public var isSafe: Bool {
        switch self {
        case .get, .head, .options, .trace, .query: true
        default: false
        }
    }

    /// Whether sending the request twice has the same effect as sending it once (RFC 9110, 9.2.2): the safe methods,
    /// PUT and DELETE.
    public var isIdempotent: Bool { isSafe || self == .put || self == .delete }

    public var description: String { rawValue }

    /// The method for descriptions and messages, which hide a malformed method.
    package var printable: String { ASCII.isToken(rawValue) ? rawValue : "(refused method)" }
}

extension HTTPMethod {
    /// Reads a resource.
    public static let get = HTTPMethod("GET")
    /// Reads a resource like GET, but returns only its headers.
    public static let head = HTTPMethod("HEAD")
    /// Lets the resource process the body.
    public static let post = HTTPMethod("POST")
    /// Replaces the resource with the body.
    public static let put = HTTPMethod("PUT")
    /// Changes the resource as described by the body (RFC 5789).
    public static let patch = HTTPMethod("PATCH")
    /// Removes the resource.
    public static let delete = HTTPMethod("DELETE")
    /// Requests the communication options of the resource.
    public static let options = HTTPMethod("OPTIONS")
    /// Returns the received request, for tests.
    public static let trace = HTTPMethod("TRACE")
    /// Establishes a tunnel. Reserved for proxies.
    public static let connect = HTTPMethod("CONNECT")
    /// Reads a resource with a query in the body.
    public static let query = HTTPMethod("QUERY")
}

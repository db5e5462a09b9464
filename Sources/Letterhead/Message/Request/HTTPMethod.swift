/// What a request asks of a resource (RFC 9110, 9).
///
/// The set is open: `HTTPMethod("PURGE")`, or just `"PURGE"` where a method is expected. Methods are case-sensitive.
/// One that is not a token of RFC 9110, 5.6.2 is refused with ``HTTPError/Code/invalidRequest`` before anything is sent.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The method as it goes on the wire.
    public let rawValue: String

    /// Makes a method of any text.
    public init(_ text: String) { rawValue = text }

    /// Makes a method of any text; the same as ``init(_:)``.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Makes a method of a literal.
    public init(stringLiteral value: String) { rawValue = value }

    /// Whether it only reads (RFC 9110, 9.2.1): GET, HEAD, OPTIONS, TRACE and QUERY.
    public var isSafe: Bool {
        switch self {
        case .get, .head, .options, .trace, .query: true
        default: false
        }
    }

    /// Whether sending it twice means no more than sending it once (RFC 9110, 9.2.2): the safe methods, PUT and DELETE.
    public var isIdempotent: Bool { isSafe || self == .put || self == .delete }

    /// The method as it goes on the wire.
    public var description: String { rawValue }

    /// The method in a text about a request: one that is refused is not repeated.
    var shown: String { ASCII.isToken(rawValue) ? rawValue : "(refused method)" }
}

extension HTTPMethod {
    /// Reads a resource.
    public static let get = HTTPMethod("GET")
    /// Reads a resource's headers only.
    public static let head = HTTPMethod("HEAD")
    /// Lets the resource process the body.
    public static let post = HTTPMethod("POST")
    /// Replaces the resource by the body.
    public static let put = HTTPMethod("PUT")
    /// Changes the resource as the body says (RFC 5789).
    public static let patch = HTTPMethod("PATCH")
    /// Removes the resource.
    public static let delete = HTTPMethod("DELETE")
    /// Asks what may be done with the resource.
    public static let options = HTTPMethod("OPTIONS")
    /// Sends the request back for testing.
    public static let trace = HTTPMethod("TRACE")
    /// Makes a tunnel; reserved for proxies.
    public static let connect = HTTPMethod("CONNECT")
    /// Reads a resource with a query in the body.
    public static let query = HTTPMethod("QUERY")
}

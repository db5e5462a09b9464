/// How a server answered (RFC 9110, 15).
///
/// The set is open: any number is kept as it came, and its class follows from its first digit. Two are equal when their
/// codes are.
public struct HTTPStatus: Hashable, Sendable, Comparable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// The number.
    public let code: Int

    /// Makes a status of any number.
    public init(_ code: Int) { self.code = code }

    /// Makes a status of a literal.
    public init(integerLiteral value: Int) { code = value }

    /// Whether it is an interim answer: 100 to 199.
    public var isInformational: Bool { (100...199).contains(code) }
    /// Whether the request was received, understood and accepted: 200 to 299.
    public var isSuccess: Bool { (200...299).contains(code) }
    /// Whether more must be done to complete the request: 300 to 399.
    public var isRedirection: Bool { (300...399).contains(code) }
    /// Whether the request was at fault: 400 to 499.
    public var isClientError: Bool { (400...499).contains(code) }
    /// Whether the server was at fault: 500 to 599.
    public var isServerError: Bool { (500...599).contains(code) }

    /// The registered phrase, such as `Not Found`; empty for a code that is not registered.
    public var reasonPhrase: String { Self.phrases[code] ?? "" }

    /// The number and its phrase: `404 Not Found`.
    public var description: String { reasonPhrase.isEmpty ? "\(code)" : "\(code) \(reasonPhrase)" }

    /// Orders by code.
    public static func < (left: HTTPStatus, right: HTTPStatus) -> Bool { left.code < right.code }
}

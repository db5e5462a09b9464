/// The status of a response (RFC 9110, 15).
///
/// The set is open: any number is kept. The first digit of a number from 100 to 599 determines its class; other numbers
/// have no class. Two statuses are equal if their codes are equal.
public struct HTTPStatus: Hashable, Sendable, Comparable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// The status code.
    public let code: Int

    /// Creates a status from any number.
    public init(_ code: Int) { self.code = code }

    /// Creates a status from a literal.
    public init(integerLiteral value: Int) { code = value }

    /// Whether the response is interim: 100 to 199.
    public var isInformational: Bool { (100...199).contains(code) }
    /// Whether the request was received, understood and accepted: 200 to 299.
    public var isSuccess: Bool { (200...299).contains(code) }
    /// Whether the client must do more to complete the request: 300 to 399.
    public var isRedirection: Bool { (300...399).contains(code) }
    /// Whether the request caused the failure: 400 to 499.
    public var isClientError: Bool { (400...499).contains(code) }
    /// Whether the server caused the failure: 500 to 599.
    public var isServerError: Bool { (500...599).contains(code) }

    /// The registered phrase, such as `Not Found`; empty for a code that is not registered.
    public var reasonPhrase: String { Self.phrases[code] ?? "" }

    /// The number and its phrase: `404 Not Found`.
    public var description: String { reasonPhrase.isEmpty ? "\(code)" : "\(code) \(reasonPhrase)" }

    /// Compares the codes.
    public static func < (left: HTTPStatus, right: HTTPStatus) -> Bool { left.code < right.code }
}

/// A set of statuses that count as success.
///
/// A template specifies them in `acceptedStatuses`. Default: ``success``, and `304 Not Modified` if the request is
/// conditional (RFC 9110, 13). Combine sets with ``union(_:)``, or list statuses: `[200, 404]`.
public struct HTTPStatusSet: Hashable, Sendable, ExpressibleByArrayLiteral {
    /// The ranges in ascending order and not adjacent, so that sets with the same statuses are equal.
    private let ranges: [ClosedRange<Int>]

    /// Creates a set from a range of codes.
    public init(_ codes: ClosedRange<Int>) { ranges = [codes] }

    /// Creates a set from a list of statuses.
    public init(arrayLiteral elements: HTTPStatus...) { self.init(elements.map { $0.code...$0.code }) }

    /// 200 to 299.
    public static let success = HTTPStatusSet(200...299)

    /// All statuses. With this set, no status is an error.
    public static let any = HTTPStatusSet(0...Int.max)

    /// Returns whether the set contains a status.
    public func contains(_ status: HTTPStatus) -> Bool { ranges.contains { $0.contains(status.code) } }

    /// Returns the statuses of both sets.
    public func union(_ other: HTTPStatusSet) -> HTTPStatusSet {
        HTTPStatusSet(ranges + other.ranges)
    }

    private init(_ ranges: [ClosedRange<Int>]) {
        self.ranges = ranges.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { merged, range in
            if let last = merged.last, range.lowerBound <= last.upperBound || range.lowerBound - 1 == last.upperBound {
                merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
    }
}

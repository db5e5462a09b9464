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

/// The statuses that count as success at the front door.
///
/// A template says which in `acceptedStatuses`; without a word it is ``success``, and `304 Not Modified` when the
/// request was conditional (RFC 9110, 13). Join sets with ``union(_:)``, or list statuses: `[200, 404]`.
public struct HTTPStatusSet: Hashable, Sendable, ExpressibleByArrayLiteral {
    /// In order and apart from each other, so that sets of the same statuses are equal.
    private let ranges: [ClosedRange<Int>]

    /// The statuses of a range of codes.
    public init(_ codes: ClosedRange<Int>) { ranges = [codes] }

    /// The statuses listed.
    public init(arrayLiteral elements: HTTPStatus...) { self.init(elements.map { $0.code...$0.code }) }

    /// 200 to 299.
    public static let success = HTTPStatusSet(200...299)

    /// Every status, so that none is an error.
    public static let any = HTTPStatusSet(0...Int.max)

    /// Whether a status is in the set.
    public func contains(_ status: HTTPStatus) -> Bool { ranges.contains { $0.contains(status.code) } }

    /// The statuses of either set.
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

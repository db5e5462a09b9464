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

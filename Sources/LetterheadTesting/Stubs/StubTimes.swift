// SPDX-License-Identifier: MIT
/// How many calls a stub expects and answers.
///
/// ```swift
/// stubs.on(DeleteUser.self, times: 1) { _ in .status(.noContent) }
/// stubs.on(GetUser.self, times: .any) { User(login: $0.login) }
/// ```
///
/// After the maximum, the stub doesn't answer any more. Below the minimum, ``StubLoader/verify()`` throws an error.
public struct StubTimes: Sendable, Hashable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    let least: Int
    let most: Int

    private init(_ least: Int, _ most: Int) { (self.least, self.most) = (max(0, least), max(0, most)) }

    /// Any number, including none.
    public static let any = StubTimes(0, .max)
    /// One call or more. This is the default.
    public static let atLeastOnce = StubTimes(1, .max)
    /// No call. A matching request is an error, even if a stub that was added later would answer it.
    public static let never = StubTimes(0, 0)

    /// Exactly `count` calls. A negative number counts as zero.
    public static func exactly(_ count: Int) -> StubTimes { StubTimes(count, count) }

    /// As few calls as the range's lower bound, and as many as its upper bound.
    public static func between(_ range: ClosedRange<Int>) -> StubTimes { StubTimes(range.lowerBound, range.upperBound) }

    /// Creates an exact number.
    public init(integerLiteral value: Int) { self.init(value, value) }

    /// The text for error messages: `once`, `2 times`, `at least once`.
    public var description: String {
        if most == .max { return least == 0 ? "any number of times" : "at least \(Self.times(least))" }
        return least == most ? Self.times(least) : "\(least) to \(Self.times(most))"
    }

    static func times(_ count: Int) -> String {
        switch count {
        case 0: "never"
        case 1: "once"
        default: "\(count) times"
        }
    }
}

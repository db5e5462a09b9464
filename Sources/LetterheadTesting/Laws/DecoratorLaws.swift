// SPDX-License-Identifier: MIT
public import Letterhead

/// Checks the laws of `RequestDecorator`.
///
/// Write one test for each custom decorator. Declare the members that it changes, and create it in the closure:
///
/// ```swift
/// @Test func `Traced keeps the laws of a decorator`() async throws {
///     try await DecoratorLaws(changing: [.headers]) { Traced(base: $0) }.check()
/// }
/// ```
///
/// The laws:
/// - **Forwarding**: every member that the decorator does not change has the value or the effect of the base, including
///   `decode` and `finish`. `finish` of the base is called exactly once for each request.
/// - **Precedence**: changed members start from those of the base, so that other headers, query items, parameters and
///   options are kept. If both set the same name, the result follows the declared precedence.
/// - **Stability**: every read of a member returns the same value, and the decorator does not change its base.
/// - **Pages**: the decorator of a paginated template is paginated, and the following pages have the decorator, too.
public struct DecoratorLaws: Sendable {
    /// Which value is used if a decorator and its base set the same header, query item or parameter.
    public enum Precedence: Sendable, Hashable {
        /// The decorator's value, as with `.header`.
        case decorator
        /// The base's value: the decorator sets only what is missing, as with `.paginated`.
        case base
        /// Both values, the base's first, as with `.addingHeader`.
        case both
        /// The precedence is not checked, because it depends on further conditions.
        case unchecked
    }

    let changed: Set<TemplateMember>
    let precedence: Precedence
    let decorate: @Sendable (LawTemplate) -> any RequestTemplate

    /// Creates a check.
    ///
    /// - Parameters:
    ///   - changed: the members that the decorator changes. Default: none.
    ///   - precedence: which value is used if both set the same name. Default: the decorator's.
    ///   - decorate: wraps a template in the decorator, or in several nested decorators.
    public init(
        changing changed: Set<TemplateMember> = [], precedence: Precedence = .decorator,
        _ decorate: @escaping @Sendable (LawTemplate) -> any RequestTemplate
    ) {
        self.changed = changed
        self.precedence = precedence
        self.decorate = decorate
    }

    /// Returns the violated laws; an empty array if all laws hold.
    public func violations() async -> [LawViolation] {
        var found: [LawViolation] = []
        for variant in 1...2 {
            let base = LawTemplate(variant: variant)
            found += await forwarding(base) + finishing(base) + decoding(base)
            found += survival(base) + precedence(base)
            found += await stability(base) + pages(base)
        }
        var seen = Set<LawViolation>()
        return found.filter { seen.insert($0).inserted }
    }

    /// Throws an error if the decorator violates a law.
    ///
    /// - Throws: ``LawViolations`` with all violations.
    public func check() async throws {
        try await violations().check()
    }
}

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
/// - **Forwarding**: every member that the decorator doesn't change has the base's value or effect, including `decode`
///   and `finish`. Each request calls the base's `finish` exactly once.
/// - **Precedence**: changed members start from the base's, and so keep other headers, query items, parameters and
///   options. If both set the same name, the result follows the declared precedence.
/// - **Stability**: a member always returns the same value, and the decorator doesn't change its base.
/// - **Pages**: around a paginated template, the decorator is paginated, and the following pages have it, too.
public struct DecoratorLaws: Sendable {
    /// Which value wins if a decorator and its base set the same header, query item or parameter.
    public enum Precedence: Sendable, Hashable {
        /// The decorator's value, as with `.header`.
        case decorator
        /// The base's value: the decorator sets only what is missing, as with `.paginated`.
        case base
        /// Both values, the base's first, as with `.addingHeader`.
        case both
        /// No check, because the precedence depends on further conditions.
        case unchecked
    }

    let changed: Set<TemplateMember>
    let precedence: Precedence
    let decorate: @Sendable (LawTemplate) -> any RequestTemplate

    /// Creates a check.
    ///
    /// - Parameters:
    ///   - changed: the members that the decorator changes. Default: none.
    ///   - precedence: which value wins if both set the same name. Default: the decorator's.
    ///   - decorate: wraps a template in the decorator, or in several nested decorators.
    public init(
        changing changed: Set<TemplateMember> = [], precedence: Precedence = .decorator,
        _ decorate: @escaping @Sendable (LawTemplate) -> any RequestTemplate
    ) {
        self.changed = changed
        self.precedence = precedence
        self.decorate = decorate
    }

    /// Returns the violated laws, if any.
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

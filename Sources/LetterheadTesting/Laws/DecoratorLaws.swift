public import Letterhead

/// Checks that a decorator keeps the laws of `RequestDecorator`.
///
/// Use: one test for each decorator of your own. Say which members it changes, and make it in the closure:
///
/// ```swift
/// @Test func `Traced keeps the laws of a decorator`() async throws {
///     try await DecoratorLaws(changing: [.headers]) { Traced(base: $0) }.check()
/// }
/// ```
///
/// The laws: **forwarding**: every member that it does not change is that of its base, `decode` and `finish` too, and the
/// base hears the end of a load exactly once. **Precedence**: what it changes it takes from the base, so that foreign
/// headers, query items, parameters and options survive; and who wins where both say something is as you say.
/// **Stability**: every read of a member gives the same, and nothing is changed in place. **Pages**: around a paginated
/// template it is paginated.
public struct DecoratorLaws: Sendable {
    /// Who wins where a decorator and its base name the same header, query item or parameter.
    public enum Precedence: Sendable, Hashable {
        /// The decorator: written later wins, as `.header` does.
        case decorator
        /// The base: the decorator fills what is missing, as `.paginated` does.
        case base
        /// Nobody: both are sent, the base's first, as `.addingHeader` does.
        case both
        /// It depends, and is not checked.
        case unchecked
    }

    let changed: Set<TemplateMember>
    let precedence: Precedence
    let decorate: @Sendable (LawTemplate) -> any RequestTemplate

    /// Makes a check.
    ///
    /// - Parameters:
    ///   - changed: the members that it changes. Default: none.
    ///   - precedence: who wins where both say something. Default: the decorator.
    ///   - decorate: makes the decorator, or several in each other, around a template.
    public init(
        changing changed: Set<TemplateMember> = [], precedence: Precedence = .decorator,
        _ decorate: @escaping @Sendable (LawTemplate) -> any RequestTemplate
    ) {
        self.changed = changed
        self.precedence = precedence
        self.decorate = decorate
    }

    /// The laws that it breaks; empty when it keeps them all.
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

    /// Throws when it breaks a law.
    ///
    /// - Throws: ``LawViolations`` with all that are broken.
    public func check() async throws {
        let violations = await violations()
        if !violations.isEmpty { throw LawViolations(violations) }
    }
}

// SPDX-License-Identifier: MIT
import LetterheadFoundation
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
/// - **Forwarding**: every member that the decorator doesn't change has the same value or effect as in the base,
///   including `decode` and `finish`. The decorator calls `finish` on the base exactly once for each request.
/// - **Precedence**: a changed member keeps what the base contains: its other headers, query items, parameters and
///   options. If both set the same name, the result follows the declared precedence.
/// - **Stability**: a member always returns the same value.
/// - **Pages**: a decorated paginated template is still paginated, and the following pages are decorated, too.
public struct DecoratorLaws: Sendable {
    /// Which value wins if a decorator and its base set the same header, query item or parameter.
    public enum Precedence: Sendable, Hashable {
        /// The decorator value wins, as with `.header`.
        case decorator
        /// The base value wins: the decorator sets only what is missing, as with `.paginated`.
        case base
        /// Both values are sent, the base value first, as with `.addingHeader`.
        case both
        /// The precedence isn't checked. Choose this if it depends on further conditions.
        case unchecked
    }

    private let changed: Set<TemplateMember>
    private let precedence: Precedence
    private let decorate: @Sendable (LawTemplate) -> any RequestTemplate

    /// Creates a check.
    ///
    /// - Parameters:
    ///   - changed: the members that the decorator changes. Default: none.
    ///   - precedence: which value wins if both set the same name. Default: the decorator.
    ///   - decorate: wraps a template in the decorator, or in several nested decorators.
    public init(
        changing changed: Set<TemplateMember> = [], precedence: Precedence = .decorator,
        _ decorate: @escaping @Sendable (LawTemplate) -> any RequestTemplate
    ) {
        self.changed = changed
        self.precedence = precedence
        self.decorate = decorate
    }

    /// Returns the violated laws. The array is empty if there are none.
    public func violations() async -> [LawViolation] {
        var found: [LawViolation] = []
        for variant in 1...2 {
            let base = LawTemplate(variant: variant)
            found += await forwarding(base) + TemplateLaws.violations(of: decorate(base))
            found += precedence(base)
            if let decorated = decorate(base) as? any PaginatedTemplate {
                found += await pages(decorated, base)
            } else {
                let remedy = "conform to PaginatedDecorator where Base: PaginatedTemplate"
                found.append(LawViolation("pages", .page, "is lost around a paginated template: \(remedy)"))
            }
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

extension DecoratorLaws {
    /// Checks that every member has the same value as in the base unless it is declared as changed. In any case,
    /// `finish` on the base must be called once.
    private func forwarding(_ base: LawTemplate) async -> [LawViolation] {
        let (plain, decorated) = (LawTemplate(variant: base.variant), decorate(base))
        var (expected, found) = (await TemplateReading(plain), await TemplateReading(decorated))
        expected.texts[.finish] = await finishing(plain, counting: plain)
        found.texts[.finish] = await finishing(decorated, counting: base)
        expected.texts[.decode] = await decoding(plain)
        found.texts[.decode] = await decoding(decorated)
        let unchecked = changed.subtracting([.finish]).union([.page])
        return found.differences(from: expected).filter { !unchecked.contains($0) }.map { member in
            let remedy =
                member == .finish
                ? "call base.finish once, and return its result"
                : "forward it, or declare it in DecoratorLaws(changing:)"
            return LawViolation("forwarding", member, "differs from the base's: \(remedy)")
        }
    }

    /// Returns the results of `finish` for a success and for a failure, and how often `finish` on the base was called.
    private func finishing(_ template: some RequestTemplate, counting base: LawTemplate) async -> String {
        var text = ""
        let failure = Result<HTTPResponse, HTTPError>.failure(HTTPError(.unknown, request: HTTPRequest()))
        for result in [.success(Self.response), failure] {
            let response = try? await template.finish(result)
            if !changed.contains(.finish), let response {
                text += "\(response.status)\n\(TemplateReading.text(of: response.headers))\n"
            }
            text += "\(base.finishes.value) calls\n"
        }
        return text
    }

    private func decoding(_ template: some RequestTemplate) async -> String {
        await ((try? template.decode(Self.response)) as? LawTemplate.Response)?.text ?? "another type"
    }

    private static var response: HTTPResponse {
        HTTPResponse(request: HTTPRequest(), status: 200, body: HTTPResponseBody(Data("{}".utf8)))
    }
}

extension DecoratorLaws {
    /// Checks that changed members keep the values that only the base has. Where both set a value, it checks the
    /// declared precedence.
    private func precedence(_ base: LawTemplate) -> [LawViolation] {
        let decorated = decorate(base)
        var found: [LawViolation] = []
        func note(_ member: TemplateMember, _ reason: String) {
            found.append(LawViolation("precedence", member, reason))
        }
        for member in [.headers, .query, .parameters] as [TemplateMember] {
            let (before, after) = (values(of: member, in: base), values(of: member, in: decorated))
            if changed.contains(member), before.contains(where: { after[$0.key] != $0.value }) {
                note(member, "loses values that only the base has: start from base.\(member.rawValue)")
            }
            for (name, own) in after where before[name] == nil && precedence != .unchecked {
                let both = values(of: member, in: decorate(base.adding(name, to: member)))[name]
                if both != expected(own, of: member) {
                    note(member, "of the base and of the decorator do not have the precedence \(precedence)")
                }
            }
        }
        if changed.contains(.options), decorated.options[option: LawTemplate.Mark.self] != base.variant {
            note(.options, "loses values that only the base has: start from base.options")
        }
        return found
    }

    private func values(of member: TemplateMember, in template: some RequestTemplate) -> [String: [String?]] {
        if member == .headers {
            return Dictionary(grouping: template.headers) { ASCII.lowercased($0.name.rawValue) }
                .mapValues { $0.map(\.value) }
        }
        let query = member == .query ? template.query : TemplateReading.query(of: template.parameters)
        return Dictionary(grouping: query, by: \.name).mapValues { $0.map(\.value) }
    }

    private func expected(_ own: [String?], of member: TemplateMember) -> [String?] {
        switch precedence {
        case .decorator, .unchecked: own
        // A parameter name occurs only once, so either the decorator or the base determines its value.
        case .both where member != .parameters: [LawTemplate.added] + own
        case .base, .both: [LawTemplate.added]
        }
    }
}

extension DecoratorLaws {
    /// Checks that the following pages have the same decorator.
    private func pages<Decorated: PaginatedTemplate>(
        _ decorated: Decorated, _ base: LawTemplate
    ) async -> [LawViolation] {
        let checkpoint = PageCheckpoint(page: 77, position: .number(77))
        var following = [
            ("of the next page", decorated.requestForNextPage(), base.requestForNextPage()),
            ("of a resumed page", decorated.resumed(from: checkpoint), base.resumed(from: checkpoint)),
        ]
        var found: [LawViolation] = []
        func note(_ reason: String) { found.append(LawViolation("pages", .page, reason)) }
        guard !changed.contains(.page) else {
            if following[0].1.page != decorated.page + 1 { note("of the next template is not one more") }
            if following[1].1.page != 77 { note("differs from the checkpoint that it resumes from") }
            return found
        }
        if let value = LawTemplate.Response(text: "law") as? Decorated.Response {
            let arrival = Page(value, itemCount: 3, response: Self.response)
            if case .next(let next) = try? await decorated.requestForNextPage(after: arrival) {
                following.append(("of the page that follows an arrival", next, base.requestForNextPage()))
            } else {
                note("ends although the base continues: forward requestForNextPage(after:)")
            }
        }
        if decorated.page != base.page { note("is not the base's") }
        for (which, template, base) in following {
            let expected = await TemplateReading(decorate(base))
            found += await TemplateReading(template).differences(from: expected).map {
                LawViolation("pages", $0, "\(which) differs from the decorator around it")
            }
        }
        return found
    }
}

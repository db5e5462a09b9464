// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Testing

@Suite struct DecoratorLawsTests {
    @Test func `a decorator that changes nothing equals its base`() async {
        let violations = await DecoratorLaws { PagedNothing(base: $0) }.violations()
        #expect(violations == [])
    }

    @Test func `a custom decorator obeys the laws for the member that it changes`() async throws {
        try await DecoratorLaws(changing: [.headers]) { PagedTrace(base: $0) }.check()
    }

    @Test(arguments: BuiltInDecorator.all)
    func `every decorator of the library obeys the laws`(decorator: BuiltInDecorator) async {
        let laws = DecoratorLaws(changing: decorator.changed, precedence: decorator.precedence) { decorator.wrap($0) }
        #expect(await laws.violations() == [], "\(decorator.name)")
    }

    @Test(arguments: BuiltInDecorator.all)
    func `three decorators obey the laws in any order`(outer: BuiltInDecorator) async {
        for middle in BuiltInDecorator.all {
            for inner in BuiltInDecorator.all {
                let changed = outer.changed.union(middle.changed).union(inner.changed)
                let laws = DecoratorLaws(changing: changed, precedence: .unchecked) {
                    outer.wrap(middle.wrap(inner.wrap($0)))
                }
                #expect(await laws.violations() == [], "\(outer.name) around \(middle.name) around \(inner.name)")
            }
        }
    }

    private typealias Case = (TemplateMember, @Sendable (LawTemplate) -> any RequestTemplate)

    private static let unforwarded: [Case] = [
        (.path, { BrokenDecorator.Path(base: $0) }), (.baseURL, { BrokenDecorator.BaseURL(base: $0) }),
        (.method, { BrokenDecorator.Method(base: $0) }), (.query, { BrokenDecorator.Query(base: $0) }),
        (.headers, { BrokenDecorator.Headers(base: $0) }), (.parameters, { BrokenDecorator.Parameters(base: $0) }),
        (.body, { BrokenDecorator.NoBody(base: $0) }), (.boundary, { BrokenDecorator.Boundary(base: $0) }),
        (.acceptedStatuses, { BrokenDecorator.Statuses(base: $0) }), (.options, { BrokenDecorator.Options(base: $0) }),
        (.decode, { BrokenDecorator.Decoding(base: $0) }), (.failure, { BrokenDecorator.NoFailure(base: $0) }),
        (.finish, { BrokenDecorator.Unheard(base: $0) }), (.finish, { BrokenDecorator.HeardTwice(base: $0) }),
        (.finish, { BrokenDecorator.Deaf(base: $0) }),
    ]

    @Test(arguments: unforwarded.indices) func `a member that is not forwarded is reported`(index: Int) async {
        let (member, decorate) = Self.unforwarded[index]
        let violations = await DecoratorLaws(decorate).violations()
        #expect(violations.contains { $0.law == "forwarding" && $0.member == member })
        #expect(violations.filter { $0.law == "forwarding" }.allSatisfy { $0.member == member })
    }

    @Test func `a changed member that loses the values of the base is reported`() async {
        let lawful: [(TemplateMember, [LawViolation])] = [
            (.headers, await DecoratorLaws(changing: [.headers]) { BrokenDecorator.Headers(base: $0) }.violations()),
            (.query, await DecoratorLaws(changing: [.query]) { BrokenDecorator.Query(base: $0) }.violations()),
            (
                .parameters,
                await DecoratorLaws(changing: [.parameters]) { BrokenDecorator.Parameters(base: $0) }.violations()
            ),
            (.options, await DecoratorLaws(changing: [.options]) { BrokenDecorator.Options(base: $0) }.violations()),
        ]
        for (member, violations) in lawful {
            #expect(violations.contains { $0.law == "precedence" && $0.member == member })
        }
    }

    @Test(arguments: [
        (DecoratorLaws.Precedence.base, TemplateMember.headers), (.both, .headers), (.base, .query), (.both, .query),
    ]) func `a decorator that takes precedence against its declaration is reported`(
        precedence: DecoratorLaws.Precedence, member: TemplateMember
    ) async {
        let laws = DecoratorLaws(changing: [member], precedence: precedence) {
            member == .headers ? $0.header("X-Own", "1") as any RequestTemplate : $0.query("own", "1")
        }
        #expect(await laws.violations().map(\.member) == [member])
    }

    @Test func `a decorator that should take precedence and does not is reported`() async {
        let adding = DecoratorLaws(changing: [.headers]) { $0.addingHeader("X-Own", "1") }
        #expect(await adding.violations().map(\.law) == ["precedence"])
        let filling = DecoratorLaws(changing: [.query, .parameters, .page]) { $0.paginated() }
        #expect(await Set(filling.violations().map(\.member)) == [.query, .parameters])
    }

    @Test func `a member that differs between two reads is reported`() async {
        let fresh = await DecoratorLaws(changing: [.headers]) { BrokenDecorator.Fresh(base: $0) }.violations()
        #expect(fresh.contains { $0.law == "stability" && $0.member == .headers })
        let counting = await DecoratorLaws(changing: [.path]) { BrokenDecorator.Counting(base: $0) }.violations()
        #expect(counting.contains { $0.law == "stability" && $0.member == .path })
    }

    @Test func `a decorator that is not paginated around a paginated template is reported`() async {
        let violations = await DecoratorLaws { BrokenDecorator.Unpaged(base: $0) }.violations()
        #expect(violations.map(\.member) == [.page])
        #expect(violations.first?.description.contains("PaginatedDecorator") == true)
    }

    @Test func `a next page that is the same or loses the decorator is reported`() async {
        let stuck = await DecoratorLaws { BrokenDecorator.Stuck(base: $0) }.violations()
        #expect(stuck.contains { $0.law == "pages" && $0.member == .page })
        let undressed = await DecoratorLaws(changing: [.headers]) { BrokenDecorator.Undressed(base: $0) }.violations()
        #expect(undressed.contains { $0.law == "pages" && $0.member == .headers })
    }

    @Test func `a page sequence that ends early or resumes at another page is reported`() async {
        let violations = await DecoratorLaws { BrokenDecorator.Resuming(base: $0) }.violations()
        #expect(violations.allSatisfy { $0.law == "pages" })
        #expect(violations.contains { $0.reason.contains("ends although the base continues") })
        #expect(violations.contains { $0.member == .page && $0.reason.contains("of a resumed page") })
    }

    @Test func `a check throws all violations, one on each line`() async throws {
        let error = await #expect(throws: LawViolations.self) {
            try await DecoratorLaws { BrokenDecorator.Unpaged(base: BrokenDecorator.Method(base: $0)) }.check()
        }
        let text = try #require(error).description
        #expect(text.split(separator: "\n").count == 2 && text.contains("forwarding: method differs from the base's"))
    }
}

struct PagedNothing<Base: RequestTemplate>: RequestDecorator {
    var base: Base
}

extension PagedNothing: PaginatedDecorator, PaginatedTemplate where Base: PaginatedTemplate {}

struct PagedTrace<Base: RequestTemplate>: RequestDecorator {
    var base: Base
    var headers: HTTPHeaders {
        var headers = base.headers
        headers["X-Trace"] = "traced"
        return headers
    }
}

extension PagedTrace: PaginatedDecorator, PaginatedTemplate where Base: PaginatedTemplate {}

/// A decorator of the library, and the members that it declares to change.
struct BuiltInDecorator: Sendable, CustomTestStringConvertible {
    let name: String
    let changed: Set<TemplateMember>
    var precedence = DecoratorLaws.Precedence.decorator
    let wrap: @Sendable (any RequestTemplate) -> any RequestTemplate
    var testDescription: String { name }

    static let all: [BuiltInDecorator] = [
        BuiltInDecorator(name: "header", changed: [.headers]) { header($0) },
        BuiltInDecorator(name: "addingHeader", changed: [.headers], precedence: .both) { addingHeader($0) },
        BuiltInDecorator(name: "query", changed: [.query]) { query($0) },
        BuiltInDecorator(name: "addingQuery", changed: [.query], precedence: .both) { addingQuery($0) },
        BuiltInDecorator(name: "environment", changed: [.options]) { environment($0) },
        BuiltInDecorator(name: "timeout", changed: [.options]) { timeout($0) },
        BuiltInDecorator(name: "accepting", changed: [.acceptedStatuses]) { accepting($0) },
        BuiltInDecorator(name: "body", changed: [.body]) { body($0) },
        BuiltInDecorator(name: "multipart", changed: [.body]) { multipart($0) },
        BuiltInDecorator(name: "paginated", changed: [.query, .parameters, .page], precedence: .base) { paginated($0) },
    ]

    private static func header(_ base: some RequestTemplate) -> any RequestTemplate { base.header("X-Own", "1") }
    private static func addingHeader(_ base: some RequestTemplate) -> any RequestTemplate {
        base.addingHeader("X-Own", "2")
    }
    private static func query(_ base: some RequestTemplate) -> any RequestTemplate { base.query("own", ["1", "2"]) }
    private static func addingQuery(_ base: some RequestTemplate) -> any RequestTemplate {
        base.addingQuery("own", "3")
    }
    private static func environment(_ base: some RequestTemplate) -> any RequestTemplate { base.environment(nil) }
    private static func timeout(_ base: some RequestTemplate) -> any RequestTemplate { base.timeout(.seconds(1)) }
    private static func accepting(_ base: some RequestTemplate) -> any RequestTemplate { base.accepting(.any) }
    private static func body(_ base: some RequestTemplate) -> any RequestTemplate {
        base.body(DataBody(Data("own".utf8)))
    }
    private static func multipart(_ base: some RequestTemplate) -> any RequestTemplate {
        base.multipart([.text("own", name: "own")])
    }
    private static func paginated(_ base: some RequestTemplate) -> any RequestTemplate { base.paginated() }
}

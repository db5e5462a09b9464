// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead

extension DecoratorLaws {
    /// Checks that every property equals the base's unless it is declared as changed.
    func forwarding(_ base: LawTemplate) async -> [LawViolation] {
        let differences = await TemplateReading(decorate(base)).differences(from: TemplateReading(base))
        return differences.filter { !changed.contains($0) && $0 != .page }.map {
            LawViolation(
                "forwarding", $0, "differs from the base's: forward it, or declare it in DecoratorLaws(changing:)")
        }
    }

    /// Checks that the decorator calls the base's `finish` exactly once for a success and for a failure, and uses its
    /// result.
    func finishing(_ base: LawTemplate) async -> [LawViolation] {
        let request = HTTPRequest()
        let results: [(name: String, Result<HTTPResponse, HTTPError>)] = [
            ("a success", .success(HTTPResponse(request: request, status: 200))),
            ("a failure", .failure(HTTPError(.unknown, request: request))),
        ]
        var found: [LawViolation] = []
        for (name, result) in results {
            let own = LawTemplate(variant: base.variant)
            let finished = try? await decorate(own).finish(result)
            let expected = try? await base.finish(result)
            let count = own.finishes.value
            if count != 1 {
                let reason = "calls the base \(count) times with \(name): call base.finish exactly once"
                found.append(LawViolation("forwarding", .finish, reason))
            } else if !changed.contains(.finish),
                finished?.status != expected?.status || finished?.headers != expected?.headers
            {
                let reason = "drops the base's result for \(name): return what base.finish returns"
                found.append(LawViolation("forwarding", .finish, reason))
            }
        }
        return found
    }

    /// Checks that decoding with the decorator returns the value that the base decodes.
    func decoding(_ base: LawTemplate) async -> [LawViolation] {
        guard !changed.contains(.decode) else { return [] }
        let response = HTTPResponse(request: HTTPRequest(), status: 200, body: HTTPResponseBody(Data("{}".utf8)))
        let found = (try? await decorate(base).decode(response)) as? LawTemplate.Response
        if let found, let own = try? await base.decode(response), found == own { return [] }
        let reason = "differs from the base's: use the Response of the base, and forward decode(_:)"
        return [LawViolation("forwarding", .decode, reason)]
    }

    /// Checks that two reads return the same, and don't change the base.
    func stability(_ base: LawTemplate) async -> [LawViolation] {
        let before = await TemplateReading(base)
        let decorated = decorate(base)
        let first = await TemplateReading(decorated)
        let unstable = await TemplateReading(decorated).differences(from: first)
        let changedInPlace = await TemplateReading(base).differences(from: before)
        return unstable.map {
            LawViolation("stability", $0, "differs between two reads: create it once, when the decorator is created")
        } + changedInPlace.map { LawViolation("stability", $0, "of the base was changed in place: change a copy") }
    }
}

/// A member that contains named values.
private struct LawList: Sendable {
    let member: TemplateMember
    /// The values by name.
    let values: @Sendable (any RequestTemplate) -> [String: [String?]]
    /// Adds the value `law` with a name to a base.
    let add: @Sendable (inout LawTemplate, String) -> Void

    static let all = [
        LawList(member: .headers) { template in
            Dictionary(grouping: template.headers) { ASCII.lowercased($0.name.rawValue) }.mapValues { $0.map(\.value) }
        } add: {
            $0.headers.append(HTTPHeaders.Name($1), "law")
        },
        LawList(member: .query) {
            values(in: $0.query)
        } add: {
            $0.query.append($1, "law")
        },
        LawList(member: .parameters) {
            values(in: TemplateReading.query(of: $0.parameters))
        } add: {
            $0.parameters[$1] = "law"
        },
    ]

    private static func values(in query: QueryParameters) -> [String: [String?]] {
        Dictionary(grouping: query, by: \.name).mapValues { $0.map(\.value) }
    }
}

extension DecoratorLaws {
    /// Checks that values that only the base has are still present in the changed members.
    func survival(_ base: LawTemplate) -> [LawViolation] {
        let decorated = decorate(base)
        var lost = LawList.all.filter { list in
            let values = list.values(decorated)
            return list.values(base).contains { values[$0.key] != $0.value }
        }.map(\.member)
        if decorated.options[option: LawTemplate.Mark.self] != base.variant { lost.append(.options) }
        return lost.filter { changed.contains($0) }.map {
            LawViolation("precedence", $0, "loses values that only the base has: start from base.\($0.rawValue)")
        }
    }

    /// Checks which value is used if the decorator and the base set the same name.
    func precedence(_ base: LawTemplate) -> [LawViolation] {
        guard precedence != .unchecked else { return [] }
        return LawList.all.flatMap { list in
            let names = list.values(base)
            return list.values(decorate(base)).filter { names[$0.key] == nil }.compactMap { name, own in
                var other = base
                list.add(&other, name)
                let values = list.values(decorate(other))[name]
                return values == expected(own, of: list.member) ? nil : LawViolation("precedence", list.member, reason)
            }
        }
    }

    private func expected(_ own: [String?], of member: TemplateMember) -> [String?] {
        switch precedence {
        case .decorator, .unchecked: own
        // A name occurs once among the parameters, so either the decorator or the base determines its value.
        case .both where member != .parameters: ["law"] + own
        case .base, .both: ["law"]
        }
    }

    private var reason: String {
        switch precedence {
        case .decorator, .unchecked:
            "of the base is not replaced where both set a value: the decorator must take precedence"
        case .base: "of the base is replaced where both set a value: the base must take precedence"
        case .both: "of the base and of the decorator must both be present, the base's first, where both set a value"
        }
    }
}

extension DecoratorLaws {
    /// Checks that the decorator of a paginated template is paginated, and that the next page has the same decorator.
    func pages(_ base: LawTemplate) async -> [LawViolation] {
        guard let decorated = decorate(base) as? any PaginatedTemplate else {
            let reason =
                "is lost around a paginated template: conform to PaginatedDecorator where Base: PaginatedTemplate"
            return [LawViolation("pages", .page, reason)]
        }
        return await pages(decorated, base)
    }

    private func pages<Decorated: PaginatedTemplate>(
        _ decorated: Decorated, _ base: LawTemplate
    ) async -> [LawViolation] {
        var found: [LawViolation] = []
        func note(_ reason: String) { found.append(LawViolation("pages", .page, reason)) }
        let page = decorated.page
        let next = decorated.requestForNextPage()
        if decorated.page != page { note("was changed in place by requestForNextPage()") }
        if next.page != page + 1 { note("of the next template is not one more") }
        let checkpoint = PageCheckpoint(page: 77, position: .number(77))
        let resumed = decorated.resumed(from: checkpoint)
        if resumed.page != 77 { note("differs from the checkpoint that it resumes from") }
        guard !changed.contains(.page) else { return found }
        if page != base.page { note("is not the base's") }
        found += await undressed(next, base.requestForNextPage(), "of the next page")
        if let value = LawTemplate.Response(text: "law") as? Decorated.Response {
            let response = HTTPResponse(request: HTTPRequest(), status: 200)
            let arrival = Page(value, itemCount: 3, response: response)
            if case .next(let next) = try? await decorated.requestForNextPage(after: arrival) {
                found += await undressed(next, base.requestForNextPage(), "of the page that follows an arrival")
            } else {
                note("ends although the base continues: forward requestForNextPage(after:)")
            }
        }
        if resumed.page == 77 {
            found += await undressed(resumed, base.resumed(from: checkpoint), "of the page that it resumes from")
        }
        return found
    }

    private func undressed(
        _ template: some RequestTemplate, _ base: LawTemplate, _ which: String
    ) async -> [LawViolation] {
        let expected = await TemplateReading(decorate(base))
        return await TemplateReading(template).differences(from: expected).filter { $0 != .page }.map {
            LawViolation("pages", $0, "\(which) differs from the decorator around it")
        }
    }
}

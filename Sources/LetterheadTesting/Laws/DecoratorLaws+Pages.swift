// SPDX-License-Identifier: MIT
import Letterhead

extension DecoratorLaws {
    /// Checks that the decorator of a paginated template is paginated, and that the next page has the same decorator.
    func pages(_ base: LawTemplate) async -> [LawViolation] {
        guard let decorated = decorate(base) as? any PaginatedTemplate else {
            return [
                violation(
                    "is lost around a paginated template: conform to PaginatedDecorator where Base: PaginatedTemplate")
            ]
        }
        return await following(decorated, base) + arriving(decorated, base) + resuming(decorated, base)
    }

    private func following(_ decorated: some PaginatedTemplate, _ base: LawTemplate) async -> [LawViolation] {
        let page = decorated.page
        let next = decorated.requestForNextPage()
        var found: [LawViolation] = []
        if decorated.page != page { found.append(violation("was changed in place by requestForNextPage()")) }
        if next.page != page + 1 { found.append(violation("of the next template is not one more")) }
        guard !changed.contains(.page) else { return found }
        if page != base.page { found.append(violation("is not the base's")) }
        return found + (await undressed(next, base.requestForNextPage(), "of the next page"))
    }

    /// Checks that the base decides about the page after an arrival, and that the page has the decorator.
    private func arriving<Decorated: PaginatedTemplate>(_ decorated: Decorated, _ base: LawTemplate) async
        -> [LawViolation]
    {
        guard !changed.contains(.page), let value = LawTemplate.Response(text: "law") as? Decorated.Response
        else { return [] }
        let arrival = Page(
            value, itemCount: 3, response: HTTPResponse(request: HTTPRequest(), status: 200))
        guard case .next(let next) = try? await decorated.requestForNextPage(after: arrival) else {
            return [violation("ends although the base continues: forward requestForNextPage(after:)")]
        }
        return await undressed(next, base.requestForNextPage(), "of the page that follows an arrival")
    }

    /// Checks that a resumed page sequence has the decorator.
    private func resuming(_ decorated: some PaginatedTemplate, _ base: LawTemplate) async -> [LawViolation] {
        let checkpoint = PageCheckpoint(page: 77, position: .number(77))
        let resumed = decorated.resumed(from: checkpoint)
        if resumed.page != 77 { return [violation("is not that of the checkpoint that it resumes from")] }
        if changed.contains(.page) { return [] }
        return await undressed(resumed, base.resumed(from: checkpoint), "of the page that it resumes from")
    }

    private func undressed(
        _ template: some RequestTemplate, _ base: LawTemplate, _ which: String
    ) async -> [LawViolation] {
        let expected = await TemplateReading(decorate(base))
        return await TemplateReading(template).differences(from: expected).filter { $0 != .page }.map {
            LawViolation(law: "pages", member: $0, reason: "\(which) is not that of the decorator around it")
        }
    }

    private func violation(_ reason: String) -> LawViolation {
        LawViolation(law: "pages", member: .page, reason: reason)
    }
}

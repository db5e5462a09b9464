/// The state of a walk: where it is, and what it has seen. It decides and does not load.
struct PageWalker<Template: PaginatedTemplate>: Sendable {
    private let settings: PageWalk
    private(set) var template: Template?
    /// Why there is no next page though there should be one: behind the pages that arrived, asking for more throws it.
    private(set) var fault: (any Error)?
    private var seen: Set<PagePosition> = []
    private var emptyPages = 0
    private(set) var pages = 0

    init(_ template: Template, settings: PageWalk) {
        self.settings = settings
        self.template = template
        seen.insert(template.position.seenKey)
    }

    /// Takes a page that arrived, and moves on.
    ///
    /// A page that arrived is given, whatever is wrong with the way to the next: that is a ``fault`` behind it, and a
    /// checkpoint that leads nowhere, lest anybody take the page for the last.
    ///
    /// - Returns: the page, or nil when the walk ended before it.
    /// - Throws: when the walk was cancelled.
    mutating func take(
        _ arrival: Page<Template.Response>, of current: Template
    ) async throws -> Page<Template.Response>? {
        let continuation: PageContinuation<Template>
        do { continuation = try await current.requestForNextPage(after: arrival) } catch {
            if error is CancellationError { throw error }
            continuation = .last
            fault = error
        }
        template = nil
        pages += 1
        emptyPages = arrival.itemCount == 0 ? emptyPages + 1 : 0
        switch continuation {
        case .ended: return nil
        case .last: break
        case .next(let next) where pages == 1 && asksForTheSame(current, next): break
        case .next(let next):
            if case .url = next.position { seen.formUnion(arrival.ownPositions) }
            if let rule = brokenRule(by: next) { fault = arrival.error(.paginationLoop, rule) } else { template = next }
        }
        let nowhere = fault.map { _ in PageCheckpoint(page: current.page, position: .unknown) }
        return Page(
            arrival.value, itemCount: arrival.itemCount, response: arrival.response, number: current.page,
            checkpoint: template.map { PageCheckpoint(page: $0.page, position: $0.position) } ?? nowhere)
    }

    /// Whether two pages are one request: something around the template pins its page, and this one is all there is.
    private func asksForTheSame(_ current: Template, _ next: Template) -> Bool {
        // A link that leads to its own page is a circle, and no pinned page.
        if case .url = next.position { return false }
        guard
            let (first, second) = try? (
                StandardRequestBuilder(current).request(), StandardRequestBuilder(next).request()
            ),
            first.origin == second.origin, first.target == second.target, first.headers == second.headers,
            first.body.isReplayable, second.body.isReplayable,
            let (sent, toSend) = try? (first.body.chunks().data, second.body.chunks().data)
        else { return false }
        return sent != nil && sent == toSend
    }

    private mutating func brokenRule(by next: Template) -> String? {
        if !seen.insert(next.position.seenKey).inserted {
            return "page \(next.page) is one that was already walked over"
        }
        if emptyPages > settings.maximumEmptyPages {
            return "more than \(settings.maximumEmptyPages) pages in a row are empty"
        }
        return pages >= settings.pageLimit ? "there are more than \(settings.pageLimit) pages" : nil
    }
}

extension PagePosition {
    /// The position by which a page is recognized: without what it carries, and a URL in one spelling.
    fileprivate var seenKey: PagePosition {
        guard case .url(let text) = withoutCarried else { return withoutCarried }
        let parts = URLParts(text)
        guard let origin = HTTPOrigin(parts) else { return .url(text) }
        return .url("\(origin)\(parts.path.isEmpty ? "/" : parts.path)" + (parts.query.map { "?" + $0 } ?? ""))
    }
}

extension Page {
    /// The positions of this page by its URL: the one that was requested, and the one that responded after redirects.
    fileprivate var ownPositions: [PagePosition] {
        let requests = [response.request] + response.redirects.map(\.request)
        return requests.compactMap { request in
            (try? request.urlString()).map { PagePosition.url($0).seenKey }
        }
    }
}

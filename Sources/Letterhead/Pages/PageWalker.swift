import Foundation

/// The state of a page iteration: the current position and the visited pages. It makes decisions and loads nothing.
struct PageWalker<Template: PaginatedTemplate>: Sendable {
    private let settings: PageWalk
    private(set) var template: Template?
    /// The error if the next page cannot be reached. The iterator throws it in place of that page.
    private(set) var fault: (any Error)?
    private var seen: Set<[UInt8]> = []
    private var emptyPages = 0
    private(set) var pages = 0

    init(_ template: Template, settings: PageWalk) {
        self.settings = settings
        self.template = template
        seen.insert(template.position.seenKey)
    }

    /// Takes a page that has arrived, and advances to the next one.
    ///
    /// A page that has arrived is always returned. If the next page cannot be reached, ``fault`` is set, and the page
    /// receives a checkpoint with the position ``PagePosition/unknown``, so that it is not mistaken for the last page.
    ///
    /// - Returns: the page, or nil if the sequence ended before it.
    /// - Throws: an error if the iteration was cancelled.
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

    /// Returns whether two templates send the same request. In that case a modifier sets the page parameter to a fixed
    /// value, and the sequence consists of this page.
    private func asksForTheSame(_ current: Template, _ next: Template) -> Bool {
        // A link to its own page is a loop, and not a fixed page.
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
            return "page \(next.page) was already visited; the pages form a loop"
        }
        if emptyPages > settings.maximumEmptyPages {
            return "more than \(settings.maximumEmptyPages) pages in a row are empty (maximumEmptyPages)"
        }
        return pages >= settings.pageLimit ? "there are more than \(settings.pageLimit) pages (pageLimit)" : nil
    }
}

extension PagePosition {
    /// The bytes by which a visited page is recognized: without carried values, and with a normalized URL.
    fileprivate var seenKey: [UInt8] {
        switch withoutCarried {
        case .url(let text): return Array("url \(PageURL(URLParts(text))?.text ?? text)".utf8)
        case .cursor(let value):
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return Array("cursor ".utf8) + ((try? encoder.encode(value)) ?? Data())
        case let position: return Array(position.description.utf8)
        }
    }
}

extension Page {
    /// The positions of this page as URLs: the URL of the request that was sent first, and those of its redirects.
    fileprivate var ownPositions: [[UInt8]] {
        let requests = [response.request] + response.redirects.map(\.request)
        return requests.compactMap { request in
            (try? request.urlString()).map { PagePosition.url($0).seenKey }
        }
    }
}

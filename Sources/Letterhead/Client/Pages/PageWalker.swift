// SPDX-License-Identifier: MIT
import LetterheadFoundation

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
            first.origin == second.origin, first.target.isSame(as: second.target), first.headers == second.headers,
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

/// The limits and the delays of an iteration over pages.
public struct PageWalk: Sendable {
    /// The number of pages after which the sequence ends without an error. Default: nil (no limit other than
    /// ``pageLimit``).
    public var maximumPages: Int?
    /// The number of items after which a sequence of items ends without an error. Further pages are not requested,
    /// except a page that ``prefetches`` has requested already. Default: nil (no limit).
    public var maximumItems: Int?
    /// The delay before the request for each page except the first. Set it if you iterate over many pages of an API
    /// with a rate limit. Default: zero.
    public var delay: Duration
    /// The time limit of the whole iteration. It begins with the first call of the iterator and includes the time
    /// between calls. A page that does not arrive in time is `.timedOut`. Default: nil (no limit).
    public var deadline: Duration?
    /// Set it to true to request the next page while you process the current one. If the iteration ends early, one page
    /// may have been requested unnecessarily. Default: false.
    public var prefetches: Bool
    /// The maximum number of consecutive empty pages. If there are more, the error is `.paginationLoop`. Default: 100.
    public var maximumEmptyPages: Int
    /// The number of pages after which the iteration fails with `.paginationLoop` if another page follows. Default:
    /// 100,000.
    public var pageLimit: Int
    /// The clock for the delay and the deadline. Default: the continuous clock.
    public var clock: any Clock<Duration>

    /// Creates the settings. If a number or the delay is negative, or if the deadline is zero or less, the first call
    /// of an iterator throws `.invalidRequest`, and nothing is sent.
    public init(
        maximumPages: Int? = nil, maximumItems: Int? = nil, delay: Duration = .zero, deadline: Duration? = nil,
        prefetches: Bool = false, maximumEmptyPages: Int = 100, pageLimit: Int = 100_000,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        (self.maximumPages, self.maximumItems, self.delay) = (maximumPages, maximumItems, delay)
        self.deadline = deadline
        (self.prefetches, self.maximumEmptyPages, self.pageLimit) = (prefetches, maximumEmptyPages, pageLimit)
        self.clock = clock
    }

    var brokenRule: String? {
        if let maximumPages, maximumPages < 0 { return "maximumPages is negative; use 0 or more" }
        if let maximumItems, maximumItems < 0 { return "maximumItems is negative; use 0 or more" }
        if maximumEmptyPages < 0 { return "maximumEmptyPages is negative; use 0 or more" }
        if pageLimit < 0 { return "pageLimit is negative; use 0 or more" }
        if let deadline, deadline <= .zero { return "the deadline is zero or less; use nil for no limit" }
        return delay < .zero ? "the delay is negative; use zero or more" : nil
    }
}

struct PageLoader<Template: PaginatedTemplate>: Sendable {
    /// The client, in the generation in which the iteration began.
    var client: HTTPClient
    let itemCount: @Sendable (Template.Response) -> Int?

    func load(
        _ template: Template, after delay: Duration, on clock: any Clock<Duration>
    ) async throws -> Page<Template.Response> {
        if let deadline = client.sequence?.deadline, deadline.timeLeft <= delay {
            throw HTTPError(
                .timedOut, request: try client.sendable(template).adoptedRequest(),
                message: "the deadline of the page sequence passes before the page can be requested",
                mayHaveBeenSent: false)
        }
        if delay > .zero { try await client.generation.pause(for: delay, on: clock) }
        let (value, response) = try await client.sendWithResponse(template)
        return Page(value, itemCount: itemCount(value), response: response, number: template.page)
    }
}

/// A page that is loaded in advance. Releasing it cancels the load.
final class PagePrefetch<Template: PaginatedTemplate>: Sendable {
    private let task: Task<Page<Template.Response>, any Error>

    init(_ template: Template, loader: PageLoader<Template>, walk: PageWalk) {
        task = Task { try await loader.load(template, after: walk.delay, on: walk.clock) }
    }

    deinit { task.cancel() }

    /// Whether the load was cancelled, so that its result must not be used.
    var isCancelled: Bool { task.isCancelled }

    /// Waits for the page. Cancelling the wait cancels the load.
    func value() async throws -> Page<Template.Response> {
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

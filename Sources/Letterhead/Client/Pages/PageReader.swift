// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// Loads the pages of one iteration in order, for a sequence or a pager.
struct PageReader<Template: PaginatedTemplate>: Sendable {
    private var loader: Loader
    /// The template for the first page of the iteration.
    private let start: Template
    /// The page number in the checkpoint, if the template doesn't lead to that page.
    private let unreached: Int?
    /// The template that requests the next page. Nil after the last page, and if the next one cannot be reached.
    private var nextTemplate: Template?
    /// The error to throw where the next page would follow, if no request can be made for it.
    private var fault: (any Error)?
    private var seen: Set<[UInt8]>
    private var (pages, emptyPages) = (0, 0)
    private var ahead: Prefetch?

    /// Creates a reader that starts at the template or a checkpoint.
    ///
    /// - Parameter itemCount: the number of items on a page. Default: the count of a collection.
    init(
        _ client: HTTPClient, _ template: Template, from checkpoint: PageCheckpoint?, _ settings: PageSettings,
        itemCount: @escaping @Sendable (Template.Response) -> Int? = { _ in nil }
    ) {
        loader = Loader(client, settings, itemCount)
        let start = checkpoint.map { template.resumed(from: $0) } ?? template
        unreached = checkpoint.flatMap { $0.page == start.page ? nil : $0.page }
        (self.start, nextTemplate, seen) = (start, start, [start.position.seenKey])
    }

    /// Returns the reader for a new iteration in the current generation of the client.
    func begun() -> PageReader {
        changed(self) { $0.loader = Loader(loader.client, loader.settings, loader.itemCount) }
    }

    var generation: ClientGeneration { loader.series.generation }

    var isAtMaximum: Bool { loader.settings.maximumPages.map { pages >= $0 } ?? false }

    /// Returns the next page, or nil after the last.
    ///
    /// - Throws: ``HTTPError``, also `.cancelled` if the client was reset since the iteration began.
    ///   `CancellationError` if the calling task was cancelled. After an error, the next call requests the same page
    ///   again, or throws the same error if no request leads to that page.
    mutating func next() async throws -> Page<Template.Response>? {
        var page: Page<Template.Response>?
        defer { if page == nil { endProgress() } }
        page = try await nextPage()
        return page
    }

    /// Throws `.cancelled` if the client was reset since the iteration began.
    func refuseIfStale() throws {
        guard generation.hasEnded else { return }
        throw HTTPError(
            .cancelled, request: try StandardRequestBuilder(nextTemplate ?? start).request(),
            message: "the client was reset (start a new page sequence)", mayHaveBeenSent: false)
    }

    /// Ends the progress updates of the template. The first request has done so, unless it was never sent.
    func endProgress() { start.options.endProgress() }

    private mutating func nextPage() async throws -> Page<Template.Response>? {
        guard let template = nextTemplate else {
            guard let fault, !isAtMaximum else { return nil }
            try refuseIfStale()
            throw fault
        }
        let settings = loader.settings
        if let rule = settings.brokenRule ?? brokenCheckpoint {
            throw HTTPError(.invalidRequest, request: try loader.series.request(for: template), message: rule)
        }
        guard !isAtMaximum else { return nil }
        // The time counts from the first page on: a later deadline changes nothing.
        loader.series = loader.series.client.series(within: settings.deadline)
        try refuseIfStale()
        let arrival: Page<Template.Response>
        // A different copy of this reader may have cancelled the shared prefetch.
        if let prefetch = ahead.take(), !prefetch.isCancelled {
            arrival = try await prefetch.value()
        } else {
            arrival = try await loader.load(template, after: pages > 0 ? settings.delay : .zero)
        }
        try refuseIfStale()
        let page = try await advance(after: arrival, of: template)
        // `advance` awaits a function of the template, so the client may have been reset meanwhile.
        try refuseIfStale()
        if settings.prefetches, !isAtMaximum, let next = nextTemplate { ahead = Prefetch(next, loader) }
        return page
    }

    private var brokenCheckpoint: String? {
        unreached.map {
            "\(Template.self) does not lead to page \($0) of the checkpoint (implement resumed(from:) in it, or use a "
                + "checkpoint of the same template)"
        }
    }

    /// Takes a page that has arrived, and advances to the next one.
    ///
    /// A page that has arrived is always returned. If the next page cannot be reached, ``fault`` is set, and the page
    /// receives a checkpoint with the position ``PagePosition/unknown``, so that it doesn't look like the last page.
    ///
    /// - Returns: nil if the sequence ended before the page.
    /// - Throws: an error if the iteration was cancelled.
    private mutating func advance(
        after arrival: Page<Template.Response>, of current: Template
    ) async throws -> Page<Template.Response>? {
        let continuation: PageContinuation<Template>
        do { continuation = try await current.requestForNextPage(after: arrival) } catch {
            if error is CancellationError { throw error }
            continuation = .last
            fault = error
        }
        nextTemplate = nil
        pages += 1
        emptyPages = arrival.itemCount == 0 ? emptyPages + 1 : 0
        switch continuation {
        case .ended: return nil
        case .last: break
        case .next(let next) where pages == 1 && current.requestsTheSame(as: next): break
        case .next(let next):
            if case .url = next.position { seen.formUnion(arrival.ownPositions) }
            if let rule = brokenRule(by: next) {
                fault = arrival.error(.paginationLoop, rule)
            } else {
                nextTemplate = next
            }
        }
        let nowhere = fault.map { _ in PageCheckpoint(page: current.page, position: .unknown) }
        return Page(
            arrival.value, itemCount: arrival.itemCount, response: arrival.response, number: current.page,
            checkpoint: nextTemplate.map { PageCheckpoint(page: $0.page, position: $0.position) } ?? nowhere)
    }

    private mutating func brokenRule(by next: Template) -> String? {
        let settings = loader.settings
        if !seen.insert(next.position.seenKey).inserted {
            return "page \(next.page) was already visited, so the pages form a loop"
        }
        if emptyPages > settings.maximumEmptyPages {
            return "more than \(settings.maximumEmptyPages) pages in a row are empty (maximumEmptyPages)"
        }
        return pages >= settings.pageLimit ? "there are more than \(settings.pageLimit) pages (pageLimit)" : nil
    }
}

extension PageReader {
    fileprivate struct Loader: Sendable {
        let client: HTTPClient
        var series: RequestSeries
        let settings: PageSettings
        let itemCount: @Sendable (Template.Response) -> Int?

        /// Creates a loader that begins in the current generation of the client.
        init(
            _ client: HTTPClient, _ settings: PageSettings, _ itemCount: @escaping @Sendable (Template.Response) -> Int?
        ) {
            (self.client, self.settings, self.itemCount) = (client, settings, itemCount)
            series = client.series(kind: "page")
        }

        func load(_ template: Template, after delay: Duration) async throws -> Page<Template.Response> {
            try await series.pause(for: delay, before: try series.request(for: template))
            let (value, response) = try await series.client.sendWithResponse(template)
            return Page(value, itemCount: itemCount(value), response: response, number: template.page)
        }
    }

    /// A page that is loaded in advance. Releasing it cancels the load.
    fileprivate final class Prefetch: Sendable {
        private let task: Task<Page<Template.Response>, any Error>

        init(_ template: Template, _ loader: Loader) {
            task = Task { try await loader.load(template, after: loader.settings.delay) }
        }

        deinit { task.cancel() }

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
}

extension PaginatedTemplate {
    /// Whether the template for the next page sends the same request. A modifier then sets the page parameter to a
    /// fixed value, and the sequence consists of this page.
    fileprivate func requestsTheSame(as next: Self) -> Bool {
        // A link to its own page is a loop, not a fixed page.
        if case .url = next.position { return false }
        // The position is usually in the query, and then no request is built.
        guard query == next.query,
            let (first, second) = try? (StandardRequestBuilder(self).request(), StandardRequestBuilder(next).request()),
            first.origin == second.origin, first.target.isSame(as: second.target), first.headers == second.headers,
            first.body.isReplayable, second.body.isReplayable,
            let (sent, toSend) = try? (first.body.chunks().data, second.body.chunks().data)
        else { return false }
        return sent != nil && sent == toSend
    }
}

extension PagePosition {
    /// Identifies a page, to recognize it if it was visited. The key has no carried values, and a URL is normalized.
    fileprivate var seenKey: [UInt8] {
        switch withoutCarried {
        case .url(let text): Array("url \(PageURL(URLParts(text))?.text ?? text)".utf8)
        case .cursor(let value): Array("cursor ".utf8) + ((try? JSONEncoder.standard.encode(value)) ?? Data())
        case let position: Array(position.description.utf8)
        }
    }
}

extension Page {
    /// The positions of this page as URLs: the URL of the first request, and each URL that redirected.
    fileprivate var ownPositions: [[UInt8]] {
        let requests = [response.request] + response.redirects.map(\.request)
        return requests.compactMap { request in
            (try? request.urlString()).map { PagePosition.url($0).seenKey }
        }
    }
}

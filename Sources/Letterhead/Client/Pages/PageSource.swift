// SPDX-License-Identifier: MIT
/// The source of a page sequence: a client, a template, and the page where the sequence begins.
struct PageSource<Template: PaginatedTemplate>: AsyncSequence, Sendable {
    private let client: HTTPClient
    /// The template of the first page, and the template of the page where the sequence begins.
    private let (first, template): (Template, Template)
    /// The number of the page at the checkpoint, if the template does not reach it.
    private let unreached: Int?
    let walk: PageWalk
    private let itemCount: @Sendable (Template.Response) -> Int?

    init(
        client: HTTPClient, template: Template, checkpoint: PageCheckpoint?, walk: PageWalk,
        itemCount: @escaping @Sendable (Template.Response) -> Int?
    ) {
        self.client = client
        first = template
        let start = checkpoint.map { template.resumed(from: $0) } ?? template
        self.template = start
        unreached = checkpoint.flatMap { $0.page == start.page ? nil : $0.page }
        self.walk = walk
        self.itemCount = itemCount
    }

    var generation: ClientGeneration { client.generation }

    func makeAsyncIterator() -> Iterator { iterator(from: template, unreached: unreached) }

    /// Starts an iteration at the first page, regardless of the checkpoint.
    func makeIteratorFromFirstPage() -> Iterator { iterator(from: first) }

    private func iterator(from template: Template, unreached: Int? = nil) -> Iterator {
        Iterator(
            loader: PageLoader(client: client.pinned(asOneOf: "page"), itemCount: itemCount), walk: walk,
            walker: PageWalker(template, settings: walk), start: template, unreached: unreached)
    }

    struct Iterator: AsyncIteratorProtocol, Sendable {
        var loader: PageLoader<Template>
        let walk: PageWalk
        var walker: PageWalker<Template>
        /// The template of the page where the iteration begins.
        let start: Template
        let unreached: Int?
        var ahead: PagePrefetch<Template>?

        /// Returns the next page, or nil after the last.
        ///
        /// - Throws: ``HTTPError``, also `.cancelled` if the client was reset since the iteration began; and
        ///   `CancellationError` if the calling task was cancelled. After an error, the next call requests the same
        ///   page again, or throws the same error if no request leads to that page.
        mutating func next() async throws -> Page<Template.Response>? {
            do {
                if let page = try await nextPage() { return page }
            } catch {
                endProgress()
                throw error
            }
            endProgress()
            return nil
        }

        private mutating func nextPage() async throws -> Page<Template.Response>? {
            guard let current = walker.template else {
                guard let fault = walker.fault, !isAtMaximum else { return nil }
                try refuseIfStale()
                throw fault
            }
            if let rule = walk.brokenRule ?? brokenCheckpoint {
                let request = try loader.client.sendable(current).adoptedRequest()
                throw HTTPError(.invalidRequest, request: request, message: rule)
            }
            guard !isAtMaximum else { return nil }
            if let deadline = walk.deadline, loader.client.sequence?.deadline == nil {
                let point = DeadlinePoint(in: deadline, on: Timeline(walk.clock))
                loader.client.sequence?.deadline = point
            }
            try refuseIfStale()
            let prefetched = ahead
            ahead = nil
            let arrival: Page<Template.Response>
            // A copy of this iterator may have cancelled the prefetch that both copies share.
            if let prefetched, !prefetched.isCancelled {
                arrival = try await prefetched.value()
            } else {
                arrival = try await loader.load(current, after: walker.pages > 0 ? walk.delay : .zero, on: walk.clock)
            }
            try refuseIfStale()
            let page = try await walker.take(arrival, of: current)
            // `take` calls an asynchronous function of the template, so the client may have been reset in the meantime.
            try refuseIfStale()
            prefetch()
            return page
        }

        mutating func next(isolation actor: (any Actor)?) async throws -> Page<Template.Response>? { try await next() }

        private var brokenCheckpoint: String? {
            unreached.map {
                "\(Template.self) does not lead to page \($0) of the checkpoint; implement resumed(from:) in it, or use a "
                    + "checkpoint of the same template"
            }
        }

        var isAtMaximum: Bool { walk.maximumPages.map { walker.pages >= $0 } ?? false }

        var isStale: Bool { loader.client.generation.hasEnded }

        /// Throws `.cancelled` if the client was reset since the iteration began.
        func refuseIfStale() throws {
            guard isStale else { return }
            throw HTTPError(
                .cancelled, request: try StandardRequestBuilder(walker.template ?? start).request(),
                message: "the client was reset; start a new page sequence", mayHaveBeenSent: false)
        }

        /// Ends the progress updates of the template. The first request has done so, unless it was never sent.
        func endProgress() { for updates in start.options.progressUpdates { updates.finish() } }

        private mutating func prefetch() {
            guard walk.prefetches, !isAtMaximum, let next = walker.template else { return }
            ahead = PagePrefetch(next, loader: loader, walk: walk)
        }
    }
}

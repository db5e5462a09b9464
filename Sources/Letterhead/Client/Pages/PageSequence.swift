// SPDX-License-Identifier: MIT
extension HTTPClient {
    /// Returns an asynchronous sequence of pages, starting at the page of the template or at a checkpoint.
    ///
    /// ```swift
    /// for try await page in client.pages(of: ListFollowers(login: "ada").paginated()) { print(page.value.count) }
    /// ```
    ///
    /// Use it if you need the response or the number of each page. For the items alone, use
    /// ``items(of:from:settings:)``.
    ///
    /// The iteration requests each page when it needs it. If a page cannot be loaded, the error is thrown after the
    /// pages before it, and the next call of the iterator requests the page again. If a page leads to no valid next
    /// page although it isn't the last, the page itself is returned, and all further calls throw one of these errors:
    ///
    /// - `.paginationLoop`: the next page was already visited, or there are too many pages or too many empty pages.
    /// - `.invalidResponse`: the link to the next page is invalid or leads to a different origin.
    /// - `.invalidRequest`: the items of the page cannot be counted, so the last page cannot be detected.
    ///
    /// After ``reset()``, iterations that have begun end with `.cancelled`, and deliver no further items from a page
    /// that has arrived.
    ///
    /// - Parameters:
    ///   - template: a template with a pagination.
    ///   - checkpoint: where to start. Default: nil (at the page of the template).
    ///   - settings: limits and delays. Default: no delay and no deadline.
    public func pages<Template: PaginatedTemplate>(
        of template: Template, from checkpoint: PageCheckpoint? = nil, settings: PageSettings = PageSettings()
    ) -> PageSequence<Template, Page<Template.Response>> {
        PageSequence(reader: PageReader(self, template, from: checkpoint, settings), maximum: .max) { [$0] }
    }

    /// Returns an asynchronous sequence of the items on all pages. The value of each page must be a collection.
    ///
    /// ```swift
    /// for try await user in client.items(of: ListFollowers(login: "ada").paginated()) { print(user.login) }
    /// ```
    ///
    /// Pages are requested on demand. Iterating throws the same errors as in ``pages(of:from:settings:)``.
    public func items<Template: PaginatedTemplate>(
        of template: Template, from checkpoint: PageCheckpoint? = nil, settings: PageSettings = PageSettings()
    ) -> PageSequence<Template, Template.Response.Element> where Template.Response: Collection {
        items(of: template, at: \.self, from: checkpoint, settings: settings)
    }

    /// Returns an asynchronous sequence of the items on all pages. A key path locates the items in the value of each
    /// page: `items(of: template, at: \.items)`.
    public func items<Template: PaginatedTemplate, Items: Collection & SendableMetatype>(
        of template: Template, at items: any KeyPath<Template.Response, Items> & Sendable,
        from checkpoint: PageCheckpoint? = nil, settings: PageSettings = PageSettings()
    ) -> PageSequence<Template, Items.Element> {
        let reader = PageReader(self, template, from: checkpoint, settings) { $0[keyPath: items].count }
        return PageSequence(reader: reader, maximum: settings.maximumItems ?? .max) {
            Array($0.value[keyPath: items])
        }
    }
}

/// An asynchronous sequence of the pages of a template, or of their items. The iteration requests each page when it
/// needs it.
///
/// Create it with ``HTTPClient/pages(of:from:settings:)`` or ``HTTPClient/items(of:from:settings:)``.
public struct PageSequence<Template: PaginatedTemplate, Element>: AsyncSequence, Sendable {
    let reader: PageReader<Template>
    let maximum: Int
    let elements: @Sendable (Page<Template.Response>) -> [Element]

    /// Returns an iterator that begins at the start of the sequence, and requests its pages anew.
    public func makeAsyncIterator() -> Iterator {
        Iterator(pages: reader.begun(), elements: elements, left: maximum)
    }

    /// Iterates over the pages, or over the items on them.
    public struct Iterator: AsyncIteratorProtocol {
        var pages: PageReader<Template>
        let elements: @Sendable (Page<Template.Response>) -> [Element]
        var left: Int
        var current: ArraySlice<Element> = []

        /// Returns the next element, or nil after the last one. Requests a page when its first element is needed.
        ///
        /// After an error, the next call requests the same page again. If that page cannot be requested, for example
        /// because the link to it is invalid, the next call throws the same error.
        ///
        /// - Throws: ``HTTPError``, which is `.cancelled` if the client was reset after the iteration began.
        ///   `CancellationError` if the calling task was cancelled.
        public mutating func next() async throws -> Element? {
            while left != 0 {
                // If the page arrived before a reset, its items belong to the previous user.
                if !current.isEmpty { try pages.refuseIfStale() }
                if let element = current.popFirst() {
                    left -= 1
                    return element
                }
                guard let page = try await pages.next() else { return nil }
                current = elements(page)[...]
            }
            pages.endProgress()
            return nil
        }

        public mutating func next(isolation actor: (any Actor)?) async throws -> Element? { try await next() }
    }
}

extension PageSequence.Iterator: Sendable where Element: Sendable {}

/// Limits and delays for an iteration over pages. The clock in the client ``Backoff`` measures the delay and the
/// deadline.
public struct PageSettings: Sendable {
    /// Ends the sequence after this many pages, without an error. Default: nil (no limit other than ``pageLimit``).
    public var maximumPages: Int?
    /// Ends a sequence of items after this many items, without an error. Default: nil (no limit).
    ///
    /// No further pages are requested, except for a page that ``prefetches`` has requested already.
    public var maximumItems: Int?
    /// The delay before the request for each page except the first. Set it for an API with a rate limit. Default: zero.
    public var delay: Duration
    /// The time limit for the whole iteration, including the time between calls. It begins with the first call of the
    /// iterator. If a page doesn't arrive in time, the call throws `.timedOut`. Default: nil (no limit).
    public var deadline: Duration?
    /// Whether to request the next page while you process the current one. Default: false.
    ///
    /// If you end the iteration early, one request may have been unnecessary.
    public var prefetches: Bool
    /// The maximum number of consecutive empty pages. After one more, the iteration fails with `.paginationLoop`.
    /// Default: 100.
    public var maximumEmptyPages: Int
    /// The maximum number of pages. If a further page follows, the iteration fails with `.paginationLoop`. Default:
    /// 100,000.
    public var pageLimit: Int

    /// Creates the settings. If a number or the delay is negative, or if the deadline is zero or less, the first call
    /// of an iterator throws `.invalidRequest`, and nothing is sent.
    public init(
        maximumPages: Int? = nil, maximumItems: Int? = nil, delay: Duration = .zero, deadline: Duration? = nil,
        prefetches: Bool = false, maximumEmptyPages: Int = 100, pageLimit: Int = 100_000
    ) {
        (self.maximumPages, self.maximumItems, self.delay) = (maximumPages, maximumItems, delay)
        self.deadline = deadline
        (self.prefetches, self.maximumEmptyPages, self.pageLimit) = (prefetches, maximumEmptyPages, pageLimit)
    }

    var brokenRule: String? {
        if let maximumPages, maximumPages < 0 { return "maximumPages is negative (use 0 or more)" }
        if let maximumItems, maximumItems < 0 { return "maximumItems is negative (use 0 or more)" }
        if maximumEmptyPages < 0 { return "maximumEmptyPages is negative (use 0 or more)" }
        if pageLimit < 0 { return "pageLimit is negative (use 0 or more)" }
        if let deadline, deadline <= .zero { return "the deadline is zero or less (use nil for no limit)" }
        return delay < .zero ? "the delay is negative (use zero or more)" : nil
    }
}

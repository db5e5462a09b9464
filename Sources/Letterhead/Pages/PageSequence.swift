extension HTTPClient {
    /// Returns the pages that follow a template or a checkpoint, as an asynchronous sequence.
    ///
    /// ```swift
    /// for try await page in client.pages(of: ListFollowers(login: "ada").paginated()) { print(page.value.count) }
    /// ```
    ///
    /// Each page is requested when the iteration needs it. An error is thrown after the pages before it; the next call
    /// of the iterator requests the failed page again. A page that was already visited, too many empty pages, or too
    /// many pages are `.paginationLoop`. A link that must not be followed is `.invalidResponse`. Both errors are thrown
    /// after the page that contains the link. After ``reset()``, running iterations end with `.cancelled`.
    ///
    /// - Parameters:
    ///   - template: the template of the first page.
    ///   - checkpoint: the start. Default: nil (the first page of the template).
    ///   - walk: the limits and the pace of the iteration. Default: all pages, one at a time.
    public func pages<Template: PaginatedTemplate>(
        of template: Template, from checkpoint: PageCheckpoint? = nil, walk: PageWalk = PageWalk()
    ) -> PageSequence<Template, Page<Template.Response>> {
        let source = PageSource(client: self, template: template, checkpoint: checkpoint, walk: walk) { _ in nil }
        return PageSequence(source: source, maximum: .max) { [$0] }
    }
}

extension HTTPClient {
    /// Returns the items of all pages, if each page is a collection of items.
    ///
    /// ```swift
    /// for try await user in client.items(of: ListFollowers(login: "ada").paginated()) { print(user.login) }
    /// ```
    ///
    /// Pages are requested on demand, with the checks of ``pages(of:from:walk:)``.
    public func items<Template: PaginatedTemplate>(
        of template: Template, from checkpoint: PageCheckpoint? = nil, walk: PageWalk = PageWalk()
    ) -> PageSequence<Template, Template.Response.Element> where Template.Response: Collection {
        items(of: template, from: checkpoint, walk: walk) { $0 }
    }

    /// Returns the items of all pages, if each page contains a collection of items: `items(of: template, at: \.items)`.
    public func items<Template: PaginatedTemplate, Items: Collection & SendableMetatype>(
        of template: Template, at items: any KeyPath<Template.Response, Items> & Sendable,
        from checkpoint: PageCheckpoint? = nil, walk: PageWalk = PageWalk()
    ) -> PageSequence<Template, Items.Element> {
        self.items(of: template, from: checkpoint, walk: walk) { $0[keyPath: items] }
    }

    private func items<Template: PaginatedTemplate, Items: Collection & SendableMetatype>(
        of template: Template, from checkpoint: PageCheckpoint?, walk: PageWalk,
        items: @escaping @Sendable (Template.Response) -> Items
    ) -> PageSequence<Template, Items.Element> {
        let source = PageSource(client: self, template: template, checkpoint: checkpoint, walk: walk) {
            items($0).count
        }
        return PageSequence(source: source, maximum: walk.maximumItems ?? .max) { Array(items($0.value)) }
    }
}

/// The pages of a paginated template, or their items, requested on demand.
///
/// ``HTTPClient/pages(of:from:walk:)`` and ``HTTPClient/items(of:from:walk:)`` return it.
public struct PageSequence<Template: PaginatedTemplate, Element>: AsyncSequence, Sendable {
    let source: PageSource<Template>
    let maximum: Int
    let elements: @Sendable (Page<Template.Response>) -> [Element]

    /// Starts the iteration.
    public func makeAsyncIterator() -> Iterator {
        Iterator(pages: source.makeAsyncIterator(), elements: elements, left: maximum)
    }

    /// Returns the elements in order.
    public struct Iterator: AsyncIteratorProtocol {
        var pages: PageSource<Template>.Iterator
        let elements: @Sendable (Page<Template.Response>) -> [Element]
        var left: Int
        var current: ArraySlice<Element> = []

        /// The next element, nil after the last. The next page is requested when its first element is needed.
        ///
        /// - Throws: ``HTTPError``, also `.cancelled` if the client was reset since the iteration began; and
        ///   `CancellationError` if the calling task was cancelled. After an error, the next call requests the same
        ///   page again, or throws the same error if no request leads to that page.
        public mutating func next() async throws -> Element? {
            while left != 0 {
                if let element = current.popFirst() {
                    left -= 1
                    return element
                }
                guard let page = try await pages.next() else { return nil }
                current = elements(page)[...]
            }
            return nil
        }

        /// The next element, nil after the last, without leaving the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? { try await next() }
    }
}

extension PageSequence.Iterator: Sendable where Element: Sendable {}

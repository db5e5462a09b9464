// SPDX-License-Identifier: MIT
extension HTTPClient {
    /// Returns an asynchronous sequence of pages, which begins at the page of a template or at a checkpoint. Use it if
    /// you need the response or the number of each page; for the items alone, use ``items(of:from:walk:)``.
    ///
    /// ```swift
    /// for try await page in client.pages(of: ListFollowers(login: "ada").paginated()) { print(page.value.count) }
    /// ```
    ///
    /// Each page is requested when the iteration needs it. If a page cannot be loaded, the error is thrown after the
    /// pages before it, and the next call of the iterator requests the page again. If a page that is not the last one
    /// leads to no valid next page, the page itself is returned, and all further calls of the iterator throw one of
    /// these errors:
    ///
    /// - `.paginationLoop`: the next page was already visited, or there are too many pages or too many empty pages.
    /// - `.invalidResponse`: the link to the next page is invalid or leads to another origin.
    /// - `.invalidRequest`: the items on the page cannot be counted, so the last page cannot be detected.
    ///
    /// After ``reset()``, iterations that have begun end with `.cancelled`, and deliver no further items of a page that
    /// has arrived.
    public func pages<Template: PaginatedTemplate>(
        of template: Template, from checkpoint: PageCheckpoint? = nil, walk: PageWalk = PageWalk()
    ) -> PageSequence<Template, Page<Template.Response>> {
        let source = PageSource(client: self, template: template, checkpoint: checkpoint, walk: walk) { _ in nil }
        return PageSequence(source: source, maximum: .max) { [$0] }
    }
}

extension HTTPClient {
    /// Returns an asynchronous sequence of the items of all pages. The value of each page must be a collection.
    ///
    /// ```swift
    /// for try await user in client.items(of: ListFollowers(login: "ada").paginated()) { print(user.login) }
    /// ```
    ///
    /// Pages are requested on demand. The errors are those of ``pages(of:from:walk:)``.
    public func items<Template: PaginatedTemplate>(
        of template: Template, from checkpoint: PageCheckpoint? = nil, walk: PageWalk = PageWalk()
    ) -> PageSequence<Template, Template.Response.Element> where Template.Response: Collection {
        items(of: template, from: checkpoint, walk: walk) { $0 }
    }

    /// Returns an asynchronous sequence of the items of all pages. A key path locates the items in the value of each
    /// page: `items(of: template, at: \.items)`.
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

/// An asynchronous sequence of the pages of a paginated template, or of the items on these pages. You receive it from
/// ``HTTPClient/pages(of:from:walk:)`` or ``HTTPClient/items(of:from:walk:)``. A page is requested when the iteration
/// needs it.
public struct PageSequence<Template: PaginatedTemplate, Element>: AsyncSequence, Sendable {
    let source: PageSource<Template>
    let maximum: Int
    let elements: @Sendable (Page<Template.Response>) -> [Element]

    public func makeAsyncIterator() -> Iterator {
        Iterator(pages: source.makeAsyncIterator(), elements: elements, left: maximum)
    }

    public struct Iterator: AsyncIteratorProtocol {
        var pages: PageSource<Template>.Iterator
        let elements: @Sendable (Page<Template.Response>) -> [Element]
        var left: Int
        var current: ArraySlice<Element> = []

        /// Returns the next element, or nil after the last one. A page is requested when its first element is needed.
        ///
        /// After an error, the next call requests the same page again. If that page cannot be requested, for example
        /// because the link to it is invalid, the next call throws the same error.
        ///
        /// - Throws: ``HTTPError``, which is `.cancelled` if the client was reset after the iteration began; and
        ///   `CancellationError` if the calling task was cancelled.
        public mutating func next() async throws -> Element? {
            while left != 0 {
                // The items of a page that arrived before a reset belong to the previous user.
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

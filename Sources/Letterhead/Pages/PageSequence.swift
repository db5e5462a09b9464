extension HTTPClient {
    /// Walks over all pages from the one that the template asks for, or from a checkpoint.
    ///
    /// ```swift
    /// for try await page in client.pages(of: ListFollowers(login: "ada").paginated()) { print(page.value.count) }
    /// ```
    ///
    /// Lazy: a page is asked for when it is wanted, and breaking off asks for no more. An error ends the walk behind the
    /// pages that came before it; asking the iterator again asks for that page again. A page that was walked over
    /// already, too many empty ones, or too many at all, are `.paginationLoop`, and a link that must not be followed is
    /// `.invalidResponse`: both behind the page that leads there. After ``reset()`` a sequence that has begun ends with
    /// `.cancelled`.
    ///
    /// - Parameters:
    ///   - template: what to walk over.
    ///   - checkpoint: where to begin. Default: nil, at the page that the template asks for.
    ///   - walk: how far and how fast. Default: to the end, a page at a time.
    public func pages<Template: PaginatedTemplate>(
        of template: Template, from checkpoint: PageCheckpoint? = nil, walk: PageWalk = PageWalk()
    ) -> PageSequence<Template, Page<Template.Response>> {
        let source = PageSource(client: self, template: template, checkpoint: checkpoint, walk: walk) { _ in nil }
        return PageSequence(source: source, maximum: .max) { [$0] }
    }
}

extension HTTPClient {
    /// Walks over all items of all pages, when a page is a collection of them.
    ///
    /// ```swift
    /// for try await user in client.items(of: ListFollowers(login: "ada").paginated()) { print(user.login) }
    /// ```
    ///
    /// As lazy, and as well guarded, as ``pages(of:from:walk:)``.
    public func items<Template: PaginatedTemplate>(
        of template: Template, from checkpoint: PageCheckpoint? = nil, walk: PageWalk = PageWalk()
    ) -> PageSequence<Template, Template.Response.Element> where Template.Response: Collection {
        items(of: template, from: checkpoint, walk: walk) { $0 }
    }

    /// Walks over all items of all pages, which are a collection inside each: `items(of: walk, at: \.items)`.
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

/// The pages of a paginated template, or their items, requested as they are needed.
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
        /// - Throws: ``HTTPError``, also `.cancelled` when the client was reset since the iteration began; and
        ///   `CancellationError` when the calling task was cancelled. Called again after an error, it requests the same page
        ///   again; where no request leads to it, it throws the same error again.
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

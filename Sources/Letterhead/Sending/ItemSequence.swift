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
    ) -> ItemSequence<Template, Template.Response> where Template.Response: Collection {
        items(of: template, from: checkpoint, walk: walk) { $0 }
    }

    /// Walks over all items of all pages, which are a collection inside each: `items(of: walk, at: \.items)`.
    public func items<Template: PaginatedTemplate, Items: Collection & SendableMetatype>(
        of template: Template, at items: any KeyPath<Template.Response, Items> & Sendable,
        from checkpoint: PageCheckpoint? = nil, walk: PageWalk = PageWalk()
    ) -> ItemSequence<Template, Items> {
        self.items(of: template, from: checkpoint, walk: walk) { $0[keyPath: items] }
    }

    private func items<Template: PaginatedTemplate, Items: Collection & SendableMetatype>(
        of template: Template, from checkpoint: PageCheckpoint?, walk: PageWalk,
        items: @escaping @Sendable (Template.Response) -> Items
    ) -> ItemSequence<Template, Items> {
        let pages = PageSequence(client: self, template: template, checkpoint: checkpoint, walk: walk) {
            items($0).count
        }
        return ItemSequence(pages: pages, items: items)
    }
}

/// The items of a walk, page by page. Made by ``HTTPClient/items(of:from:walk:)``.
public struct ItemSequence<Template: PaginatedTemplate, Items: Collection>: AsyncSequence, Sendable {
    let pages: PageSequence<Template>
    let items: @Sendable (Template.Response) -> Items

    /// Starts the walk.
    public func makeAsyncIterator() -> Iterator {
        Iterator(pages: pages.makeAsyncIterator(), items: items, left: pages.walk.maximumItems ?? .max)
    }

    /// Gives the items in order.
    public struct Iterator: AsyncIteratorProtocol {
        var pages: PageSequence<Template>.Iterator
        let items: @Sendable (Template.Response) -> Items
        var left: Int
        var current: Items.Iterator?

        /// The next item, nil behind the last; the next page is asked for when its first item is wanted.
        ///
        /// - Throws: as the walk over the pages does.
        public mutating func next() async throws -> Items.Element? {
            while left != 0 {
                if let item = current?.next() {
                    left -= 1
                    return item
                }
                guard let page = try await pages.next() else { return nil }
                current = items(page.value).makeIterator()
            }
            return nil
        }

        /// The next item, nil behind the last, without leaving the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Items.Element? {
            try await next()
        }
    }
}

extension RequestTemplate {
    /// Requests one page by its number.
    ///
    /// The number is a query parameter for GET and HEAD. For other methods it is a member of the JSON parameters, or a
    /// query parameter if the template has a custom body. If the template already sets this parameter, its value is
    /// kept, and a page sequence contains only that page.
    ///
    /// - Parameters:
    ///   - page: the number of the page. Default: 1.
    ///   - key: the name of the parameter. Default: `page`.
    ///   - size: the number of items on a full page; a shorter page is the last. It is not sent: set the parameter for
    ///     the page size in the template. Default: nil (the sequence ends at the first empty page).
    public func paginated(page: Int = 1, key: String = "page", size: Int? = nil) -> Paginated<Self> {
        paginated(by: .page(start: page, parameter: .automatic(key), size: size))
    }

    /// Requests one page with a pagination: `.paginated(by: .linkHeader)`.
    public func paginated(by pagination: Pagination<Response>) -> Paginated<Self> {
        Paginated(base: self, pagination: pagination, page: pagination.firstPage, position: pagination.start)
    }
}

/// A template that requests one of several pages.
public struct Paginated<Base: RequestTemplate>: RequestDecorator {
    /// The wrapped template.
    public var base: Base
    let pagination: Pagination<Base.Response>
    /// The number of the page.
    public let page: Int
    /// The position of the page.
    public let position: PagePosition

    /// The path of the base, or the path of the position's URL byte for byte.
    public var path: RequestPath { link.map { RequestPath(escaped: $0.path.isEmpty ? "/" : $0.path) } ?? base.path }

    /// The query of the base, with the position if it is a query parameter; or the query of the position's URL byte for
    /// byte.
    public var query: QueryParameters {
        guard let link else { return placed.query }
        return link.query.map { QueryParameters(escaped: $0) } ?? [:]
    }

    /// The parameters of the base, with the position if it is a JSON parameter. Parameters that would be query
    /// parameters are omitted if the position is a URL.
    public var parameters: RequestParameters {
        link != nil && StandardParameters.areQuery(of: base.method) ? [:] : placed.parameters
    }

    private var link: URLParts? {
        if case .url(let text) = position { URLParts(text) } else { nil }
    }

    /// The query and the parameters with the position, unless the template fixes its page.
    private var placed: PagePlace {
        var place = PagePlace(of: base)
        if !isPinned { pagination.write(position, &place) }
        return place
    }

    private var isPinned: Bool { pagination.isPinned(PagePlace(of: base)) }
}

extension Paginated: PaginatedTemplate {
    /// Returns the template of the next number or offset. The position is ``PagePosition/unknown`` if only the response
    /// contains it.
    public func requestForNextPage() -> Self { moved(to: pagination.blindly(position) ?? .unknown, page: following) }

    /// Returns the continuation that the pagination finds in a page.
    public func requestForNextPage(after arrival: Page<Base.Response>) async throws -> PageContinuation<Self> {
        if isPinned { return .last }
        switch try pagination.next(position, arrival) {
        case .ended: return .ended
        case .last: return .last
        case .next(let position): return .next(moved(to: position, page: following))
        }
    }

    /// Returns this template at the position of a checkpoint.
    public func resumed(from checkpoint: PageCheckpoint) -> Self {
        moved(to: pagination.isOwn(checkpoint.position) ? checkpoint.position : .unknown, page: checkpoint.page)
    }

    /// The next number, unless it would overflow: a stored checkpoint may contain any number.
    private var following: Int { page == .max ? page : page + 1 }

    private func moved(to position: PagePosition, page: Int) -> Self {
        Paginated(base: base, pagination: pagination, page: page, position: position)
    }
}

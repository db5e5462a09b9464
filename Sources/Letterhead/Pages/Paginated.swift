extension RequestTemplate {
    /// Asks for one page by its number.
    ///
    /// The number is a query parameter of GET and HEAD. Of any other method it is one of the JSON parameters, which are the
    /// body; of a template with a body of its own it is a query parameter, too. A template that has a parameter of
    /// that name keeps its own: it pins its page, and a walk over it is that one page.
    ///
    /// - Parameters:
    ///   - page: the number of the page. Default: 1.
    ///   - key: the name of the parameter. Default: `page`.
    ///   - size: how many items a full page has, so that a walk ends at a shorter one. Default: nil, it ends at the
    ///     first empty page. It is not sent: write the parameter that asks for it in the template.
    public func paginated(page: Int = 1, key: String = "page", size: Int? = nil) -> Paginated<Self> {
        paginated(by: .page(start: page, parameter: .automatic(key), size: size))
    }

    /// Asks for one page in the way of its API: `.paginated(by: .linkHeader)`.
    public func paginated(by pagination: Pagination<Response>) -> Paginated<Self> {
        Paginated(base: self, pagination: pagination, page: pagination.firstPage, position: pagination.start)
    }
}

/// A template that asks for one page of several.
public struct Paginated<Base: RequestTemplate>: RequestDecorator {
    /// What is wrapped.
    public var base: Base
    let pagination: Pagination<Base.Response>
    /// The number of the page that it asks for.
    public let page: Int
    /// Where in the walk that page is.
    public let position: PagePosition

    /// The base's path, or that of the position's URL byte for byte, which is at the origin of the walk.
    public var path: RequestPath { link.map { RequestPath(escaped: $0.path.isEmpty ? "/" : $0.path) } ?? base.path }

    /// The base's query, with the position when it belongs there, or that of the position's URL byte for byte.
    public var query: QueryParameters {
        guard let link else { return placed.query }
        return link.query.map { QueryParameters(escaped: $0) } ?? [:]
    }

    /// The base's parameters, with the position when it belongs there; those that would be a query give way to a URL's.
    public var parameters: RequestParameters {
        link != nil && StandardParameters.areQuery(of: base.method) ? [:] : placed.parameters
    }

    private var link: URLParts? {
        if case .url(let text) = position { URLParts(text) } else { nil }
    }

    /// Query and parameters, with the position written where it belongs, unless the template pins its page.
    private var placed: PagePlace {
        var place = PagePlace(of: base)
        if !isPinned { pagination.write(position, &place) }
        return place
    }

    private var isPinned: Bool { pagination.isPinned(PagePlace(of: base)) }
}

extension Paginated: PaginatedTemplate {
    /// The next number or offset; a page that only the answer of this one names is ``PagePosition/unknown``.
    public func requestForNextPage() -> Self { moved(to: pagination.blindly(position) ?? .unknown, page: following) }

    /// What the way of the API says of the page that arrived.
    public func requestForNextPage(after arrival: Page<Base.Response>) async throws -> PageContinuation<Self> {
        if isPinned { return .last }
        switch try pagination.next(position, arrival) {
        case .ended: return .ended
        case .last: return .last
        case .next(let position): return .next(moved(to: position, page: following))
        }
    }

    /// The same template at another place.
    public func resumed(from checkpoint: PageCheckpoint) -> Self {
        moved(to: pagination.isOwn(checkpoint.position) ? checkpoint.position : .unknown, page: checkpoint.page)
    }

    /// The next number, if there is one: a checkpoint from outside may name any page.
    private var following: Int { page == .max ? page : page + 1 }

    private func moved(to position: PagePosition, page: Int) -> Self {
        Paginated(base: base, pagination: pagination, page: page, position: position)
    }
}

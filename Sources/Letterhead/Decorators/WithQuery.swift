extension RequestTemplate {
    /// Sets a query parameter. The value replaces all values of that name in the template; nil removes them.
    ///
    /// The last modifier takes precedence: `.query("sort", "a").query("sort", "b")` sends `sort=b`.
    public func query(_ name: String, _ value: (any QueryValue)?) -> WithQuery<Self> {
        WithQuery(base: self, name: name, added: [name: value], isReplacing: true)
    }

    /// Adds a query parameter, and keeps other values of the same name. nil adds nothing.
    public func addingQuery(_ name: String, _ value: (any QueryValue)?) -> WithQuery<Self> {
        WithQuery(base: self, name: name, added: [name: value], isReplacing: false)
    }
}

/// A template with another query.
public struct WithQuery<Base: RequestTemplate>: RequestDecorator {
    /// The wrapped template.
    public var base: Base
    let name: String
    let added: QueryParameters
    let isReplacing: Bool

    /// The query of the base, with this parameter. If the position of the page is a URL, the query of this URL is not
    /// changed, because it was chosen by the server.
    public var query: QueryParameters {
        var query = base.query
        if case .url = (base as? any PaginatedTemplate)?.position { return query }
        guard isReplacing else { return QueryParameters([query, added].joined()) }
        query.set(name, to: nil)
        query.replace(with: added)
        return query
    }
}

extension WithQuery: PageForwarding, PaginatedTemplate where Base: PaginatedTemplate {}

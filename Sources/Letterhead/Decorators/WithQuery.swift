extension RequestTemplate {
    /// Sets a query parameter: all values that the template has of that name are replaced; nil removes them.
    ///
    /// Written later wins: `.query("sort", "a").query("sort", "b")` sends `sort=b`.
    public func query(_ name: String, _ value: (any QueryValue)?) -> WithQuery<Self> {
        WithQuery(base: self, name: name, added: [name: value], isReplacing: true)
    }

    /// Adds a query parameter beside those of the same name; nil adds nothing.
    public func addingQuery(_ name: String, _ value: (any QueryValue)?) -> WithQuery<Self> {
        WithQuery(base: self, name: name, added: [name: value], isReplacing: false)
    }
}

/// A template with another query.
public struct WithQuery<Base: RequestTemplate>: RequestDecorator {
    /// What is wrapped.
    public var base: Base
    let name: String
    let added: QueryParameters
    let isReplacing: Bool

    /// The base's query with this; that of a page at a URL as the server wrote it, who had this in the request before.
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

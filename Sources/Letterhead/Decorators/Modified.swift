extension RequestTemplate {
    /// Sets a header. The value replaces all values of that name in the template; nil removes them.
    ///
    /// The last modifier takes precedence: `.header("X", "1").header("X", "2")` sends 2. The body or the environment
    /// may still add a header that was removed.
    public func header(_ name: HTTPHeaders.Name, _ value: String?) -> Modified<Self> {
        Modified(base: self).header(name, value)
    }

    /// Sets headers. They replace all values of the same names in the template.
    public func headers(_ headers: HTTPHeaders) -> Modified<Self> { Modified(base: self).headers(headers) }

    /// Adds a header, and keeps other values of the same name. nil adds nothing.
    public func addingHeader(_ name: HTTPHeaders.Name, _ value: String?) -> Modified<Self> {
        Modified(base: self).addingHeader(name, value)
    }

    /// Sets a query parameter. The value replaces all values of that name in the template; nil removes them.
    ///
    /// The last modifier takes precedence: `.query("sort", "a").query("sort", "b")` sends `sort=b`.
    public func query(_ name: String, _ value: (any QueryValue)?) -> Modified<Self> {
        Modified(base: self).query(name, value)
    }

    /// Adds a query parameter, and keeps other values of the same name. nil adds nothing.
    public func addingQuery(_ name: String, _ value: (any QueryValue)?) -> Modified<Self> {
        Modified(base: self).addingQuery(name, value)
    }

    /// Sets an option for the links. It replaces the option of the template. If the value is nil, the option is set to
    /// nil; it is not removed.
    public func option<Option: HTTPRequestOption>(_ option: Option.Type, _ value: Option.Value) -> Modified<Self> {
        Modified(base: self).option(option, value)
    }
}

/// A template whose headers, query or options have been changed. All modifiers that change them return this type.
///
/// Consecutive modifiers of this kind share one wrapper: `.header(…).query(…).timeout(…)` is a `Modified<Self>`, as is
/// `.timeout(…)`.
///
/// The last modifier takes precedence: `.header("X", "1").header("X", "2")` sends only 2.
/// `.header("X", "1").addingHeader("X", "2")` sends both. Headers of the template take precedence over headers of its
/// body, which take precedence over headers of the environment.
public struct Modified<Base: RequestTemplate>: RequestDecorator {
    /// A change of headers. Values are stored as `HTTPHeaders`, whose descriptions contain no secrets.
    private enum HeaderChange: Sendable {
        case replace(HTTPHeaders)
        case remove(HTTPHeaders.Name)
        case append(HTTPHeaders)
    }

    private struct QueryChange: Sendable {
        let name: String
        let added: QueryParameters
        let isReplacing: Bool
    }

    /// The wrapped template.
    public var base: Base
    private var headerChanges: [HeaderChange] = []
    private var queryChanges: [QueryChange] = []
    private var added = HTTPRequestOptions()

    init(base: Base) { self.base = base }

    /// The headers of the base, with the changes of the modifiers.
    public var headers: HTTPHeaders {
        var headers = base.headers
        for change in headerChanges {
            switch change {
            case .replace(let added): headers.replace(with: added)
            case .remove(let name): headers[name] = nil
            case .append(let added): added.forEach { headers.append($0.name, $0.value) }
            }
        }
        return headers
    }

    /// The query of the base, with the changes of the modifiers. If the position of the page is a URL, the modifiers do
    /// not change the query, because the server has chosen the URL.
    public var query: QueryParameters {
        var query = base.query
        if queryChanges.isEmpty { return query }
        if case .url = (base as? any PaginatedTemplate)?.position { return query }
        for change in queryChanges {
            if change.isReplacing {
                query.set(change.name, to: nil)
                query.replace(with: change.added)
            } else {
                change.added.forEach { query.append($0) }
            }
        }
        return query
    }

    /// The options of the base, with those of the modifiers.
    public var options: HTTPRequestOptions {
        var options = base.options
        options.replace(with: added)
        return options
    }

    /// The statuses that `.accepting(_:)` has set, or else those of the base.
    public var acceptedStatuses: HTTPStatusSet? {
        added.contains(AcceptedStatusesOption.self) ? added.acceptedStatuses : base.acceptedStatuses
    }

    private func changed(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        change(&copy)
        return copy
    }
}

extension Modified {
    /// See ``RequestTemplate/header(_:_:)``.
    public func header(_ name: HTTPHeaders.Name, _ value: String?) -> Self {
        changed { $0.headerChanges.append(value.map { .replace([name: $0]) } ?? .remove(name)) }
    }

    /// See ``RequestTemplate/headers(_:)``.
    public func headers(_ headers: HTTPHeaders) -> Self { changed { $0.headerChanges.append(.replace(headers)) } }

    /// See ``RequestTemplate/addingHeader(_:_:)``.
    public func addingHeader(_ name: HTTPHeaders.Name, _ value: String?) -> Self {
        guard let value else { return self }
        return changed { $0.headerChanges.append(.append([name: value])) }
    }

    /// See ``RequestTemplate/query(_:_:)``.
    public func query(_ name: String, _ value: (any QueryValue)?) -> Self {
        changed { $0.queryChanges.append(QueryChange(name: name, added: [name: value], isReplacing: true)) }
    }

    /// See ``RequestTemplate/addingQuery(_:_:)``.
    public func addingQuery(_ name: String, _ value: (any QueryValue)?) -> Self {
        changed { $0.queryChanges.append(QueryChange(name: name, added: [name: value], isReplacing: false)) }
    }

    /// See ``RequestTemplate/option(_:_:)``.
    public func option<Option: HTTPRequestOption>(_ option: Option.Type, _ value: Option.Value) -> Self {
        changed { $0.added[option] = value }
    }
}

extension Modified: PageForwarding, PaginatedTemplate where Base: PaginatedTemplate {}

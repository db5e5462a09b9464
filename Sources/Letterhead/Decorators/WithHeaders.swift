extension RequestTemplate {
    /// Sets a header. The value replaces all values of that name in the template; nil removes them.
    ///
    /// The last modifier takes precedence: `.header("X", "1").header("X", "2")` sends 2. The body or the environment
    /// may still add a header that was removed.
    public func header(_ name: HTTPHeaders.Name, _ value: String?) -> WithHeaders<Self> {
        guard let value else { return WithHeaders(base: self, added: [:], isReplacing: true, removed: name) }
        return WithHeaders(base: self, added: [name: value], isReplacing: true)
    }

    /// Sets headers. They replace all values of the same names in the template.
    public func headers(_ headers: HTTPHeaders) -> WithHeaders<Self> {
        WithHeaders(base: self, added: headers, isReplacing: true)
    }

    /// Adds a header, and keeps other values of the same name. nil adds nothing.
    public func addingHeader(_ name: HTTPHeaders.Name, _ value: String?) -> WithHeaders<Self> {
        WithHeaders(base: self, added: value.map { [name: $0] } ?? [:], isReplacing: false)
    }
}

/// A template with other headers, created by `.header(…)`, `.headers(…)` and `.addingHeader(…)`.
///
/// The last modifier takes precedence: `.header("X", "1").header("X", "2")` sends only 2.
/// `.header("X", "1").addingHeader("X", "2")` sends both. Headers of the template take precedence over headers of its
/// body, which take precedence over headers of the environment.
public struct WithHeaders<Base: RequestTemplate>: RequestDecorator {
    /// The wrapped template.
    public var base: Base
    let added: HTTPHeaders
    let isReplacing: Bool
    var removed: HTTPHeaders.Name?

    /// The headers of the base, with the changes of this decorator.
    public var headers: HTTPHeaders {
        var headers = base.headers
        if let removed { headers[removed] = nil }
        if isReplacing { headers.replace(with: added) } else { added.forEach { headers.append($0.name, $0.value) } }
        return headers
    }
}

extension WithHeaders: PageForwarding, PaginatedTemplate where Base: PaginatedTemplate {}

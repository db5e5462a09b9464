extension RequestTemplate {
    /// Sets a header: all values that the template has of that name are replaced. A nil value leaves the header out.
    ///
    /// Written later wins: `.header("X", "1").header("X", "2")` sends 2. A header that was left out may still come from the
    /// body or from the environment.
    public func header(_ name: HTTPHeaders.Name, _ value: String?) -> WithHeaders<Self> {
        guard let value else { return WithHeaders(base: self, added: [:], isReplacing: true, removed: name) }
        return WithHeaders(base: self, added: [name: value], isReplacing: true)
    }

    /// Sets headers: all values that the template has of their names are replaced.
    public func headers(_ headers: HTTPHeaders) -> WithHeaders<Self> {
        WithHeaders(base: self, added: headers, isReplacing: true)
    }

    /// Adds a header beside those of the same name. A nil value adds nothing.
    public func addingHeader(_ name: HTTPHeaders.Name, _ value: String?) -> WithHeaders<Self> {
        WithHeaders(base: self, added: value.map { [name: $0] } ?? [:], isReplacing: false)
    }
}

/// A template with other headers: what `.header(…)`, `.headers(…)` and `.addingHeader(…)` make.
///
/// It holds the template and the new fields; its headers are the template's with these. Written later wins:
/// `.header("X", "1").header("X", "2")` sends 2 only, `.addingHeader` sends both. Whatever a request says wins over the
/// headers of its body, these over those of the environment.
public struct WithHeaders<Base: RequestTemplate>: RequestDecorator {
    /// What is wrapped.
    public var base: Base
    let added: HTTPHeaders
    let isReplacing: Bool
    var removed: HTTPHeaders.Name?

    /// The base's headers with these.
    public var headers: HTTPHeaders {
        var headers = base.headers
        if let removed { headers[removed] = nil }
        if isReplacing { headers.replace(with: added) } else { added.forEach { headers.append($0.name, $0.value) } }
        return headers
    }
}

extension WithHeaders: PageForwarding, PaginatedTemplate where Base: PaginatedTemplate {}

extension RequestTemplate {
    /// Sets a header: all values that the template has of that name are replaced.
    ///
    /// Written later wins: `.header("X", "1").header("X", "2")` sends 2.
    public func header(_ name: HTTPHeaders.Name, _ value: String) -> WithHeaders<Self> {
        WithHeaders(base: self, added: [name: value], isReplacing: true)
    }

    /// Sets headers: all values that the template has of their names are replaced.
    public func headers(_ headers: HTTPHeaders) -> WithHeaders<Self> {
        WithHeaders(base: self, added: headers, isReplacing: true)
    }

    /// Adds a header beside those of the same name.
    public func addingHeader(_ name: HTTPHeaders.Name, _ value: String) -> WithHeaders<Self> {
        WithHeaders(base: self, added: [name: value], isReplacing: false)
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

    /// The base's headers with these.
    public var headers: HTTPHeaders {
        var headers = base.headers
        if isReplacing { headers.replace(with: added) } else { added.forEach { headers.append($0.name, $0.value) } }
        return headers
    }
}

extension WithHeaders: PageForwarding, PaginatedTemplate where Base: PaginatedTemplate {}

// SPDX-License-Identifier: MIT
extension RequestTemplate {
    /// Returns a template for one page, identified by its number.
    ///
    /// The number is a query parameter if the method is GET or HEAD, or if the template has a body. Otherwise, it is a
    /// JSON parameter. If the template itself sets this parameter, it keeps its value, and a page sequence contains
    /// only that page.
    ///
    /// - Parameters:
    ///   - page: the number of the page. Default: 1.
    ///   - key: the parameter name. Default: `page`.
    ///   - size: the number of items on a full page. A page with fewer items is the last one. The size isn't sent: set
    ///     its parameter in the template. Default: nil (the sequence ends at the first empty page).
    public func paginated(page: Int = 1, key: String = "page", size: Int? = nil) -> Paginated<Self> {
        paginated(by: .page(start: page, parameter: .automatic(key), size: size))
    }

    /// Returns a template for the first page of a pagination: `.paginated(by: .linkHeader)`.
    public func paginated(by pagination: Pagination<Response>) -> Paginated<Self> {
        Paginated(base: self, pagination: pagination, page: pagination.firstPage, position: pagination.start)
    }
}

/// A template that requests one of several pages. Create it with ``RequestTemplate/paginated(by:)``.
public struct Paginated<Base: RequestTemplate>: RequestDecorator {
    /// The template that is paginated.
    public var base: Base
    let pagination: Pagination<Base.Response>
    /// The page number. The first page has the number 1, or the `start` of page numbers.
    public let page: Int
    /// The position of the page, which the pagination writes into the request.
    public let position: PagePosition

    /// The base path. If the position is a URL, the path is from that URL, and its route is the base route.
    public var path: RequestPath {
        guard let link else { return base.path }
        let path = base.path
        return RequestPath(escaped: link.path.isEmpty ? "/" : link.path, route: path.route, secrets: path.secrets)
    }

    /// The base query, with the position if it is a query parameter. If the position is a URL, the query is from that
    /// URL.
    public var query: QueryParameters { draft.query }

    /// The base parameters, with the position if it is a JSON parameter. Empty if the position is a URL and the method
    /// is GET or HEAD, because the URL contains the whole query.
    public var parameters: RequestParameters { draft.parameters }

    /// The base options. If the position is a URL, the request can be sent only to the origin of that URL.
    public var options: HTTPRequestOptions {
        var options = base.options
        if let origin = link.flatMap({ HTTPOrigin($0) }) { options[option: RequiredOriginOption.self] = origin }
        return options
    }

    /// The page URL, percent-encoded, because a checkpoint can contain any string.
    private var link: URLParts? {
        guard case .url(let text) = position else { return nil }
        return URLParts(text).escaped(path: .pathLiteral, query: .queryLiteral)
    }
}

extension Paginated: DraftedTemplate {
    /// The query and the parameters with the position, unless the template sets its page itself.
    var draft: ParameterDraft {
        var draft = ParameterDraft(of: base)
        if !pagination.isPinned(draft) { pagination.write(position, &draft) }
        guard let link else { return draft }
        draft.query = link.query.map { QueryParameters(ofURL: $0) } ?? [:]
        if StandardParameters.areQuery(of: draft.method) { draft.parameters = [:] }
        if let rule = link.brokenPageRule { draft.refuse(rule) }
        return draft
    }
}

extension Paginated: PaginatedTemplate {
    /// Returns the template for the page with the next number or offset. For other paginations, its position is
    /// ``PagePosition/unknown``.
    public func requestForNextPage() -> Self { moved(to: pagination.blindly(position) ?? .unknown, page: following) }

    /// Returns the continuation of the pagination after a page.
    public func requestForNextPage(after arrival: Page<Base.Response>) async throws -> PageContinuation<Self> {
        if pagination.isPinned(ParameterDraft(of: base)) { return .last }
        return try pagination.next(position, arrival).map { moved(to: $0, page: following) }
    }

    /// Returns this template for the page at a checkpoint.
    ///
    /// If the position in the checkpoint belongs to a different kind of pagination, the position of the returned
    /// template is ``PagePosition/unknown``. If the position is a URL with a different origin than the request, sending
    /// fails with `.invalidRequest`.
    public func resumed(from checkpoint: PageCheckpoint) -> Self {
        moved(to: pagination.isOwn(checkpoint.position) ? checkpoint.position : .unknown, page: checkpoint.page)
    }

    /// The number of the next page. It can't overflow, because a stored checkpoint may contain any number.
    private var following: Int { page == .max ? page : page + 1 }

    private func moved(to position: PagePosition, page: Int) -> Self {
        Paginated(base: base, pagination: pagination, page: page, position: position)
    }
}

extension URLParts {
    /// The rule that a page URL violates. Nil if the page can be requested.
    ///
    /// A reference without a scheme and a host is allowed, because it doesn't restrict the origin of the request.
    fileprivate var brokenPageRule: String? {
        if scheme == nil, authority == nil { return nil }
        if userInfo != nil { return "the URL of the page contains a user or password (use HTTPAuthentication)" }
        return HTTPOrigin(self) == nil ? "the URL of the page has no host (use an absolute http or https URL)" : nil
    }
}

/// The URL of a page, for comparison. Two URLs are equal if they have the same origin, the same path, and the same
/// query items, in any order.
///
/// The comparison normalizes the URLs (RFC 3986, 6.2.2): the spelling of escapes and dot segments in the path make no
/// difference. A `+` in the query is a space. Empty items, an `=` without a value, the fragment, and the username and
/// password are not compared.
struct PageURL: Hashable, Sendable {
    let text: String

    init?(_ parts: URLParts) {
        guard let origin = HTTPOrigin(parts) else { return nil }
        let path = Self.path(parts.path)
        let query = parts.query.map { Self.items(of: $0) } ?? []
        text = "\(origin)\(path.isEmpty ? "/" : path)?\(query.joined(separator: "&"))"
    }

    private static func path(_ path: String) -> String {
        URLParts.removingDotSegments(
            path.split(at: "/", omittingEmpty: false).map { PercentEncoding.normalized($0.utf8) }.joined(separator: "/")
        )
    }

    private static func items(of query: String) -> [String] {
        query.split(at: "&").map { item in
            guard let (name, value) = item.cut(at: "=") else { return normalized(item) }
            return normalized(name) + (value.isEmpty ? "" : "=" + normalized(value))
        }.sorted()
    }

    private static func normalized(_ text: Substring) -> String {
        PercentEncoding.normalized(text.utf8.lazy.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 })
    }
}

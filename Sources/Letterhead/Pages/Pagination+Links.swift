extension Pagination {
    /// Uses the `Link` header of each response: the target of the first link with the relation `next` (RFC 8288).
    ///
    /// The target is resolved against the URL of the page. As in a `Location`, characters that RFC 3986 does not allow
    /// in a URL, such as spaces, brackets and characters outside ASCII, are percent-encoded, and a `%` that does not
    /// begin an escape is sent as `%25`. All other characters are sent unchanged. The query of the template is not
    /// added. A page without such a link is the last one. A link to another origin is `.invalidResponse`, and nothing
    /// is sent to that origin.
    public static var linkHeader: Pagination {
        linked { try $0.nextLink().map { .string($0.target) } }
    }

    /// Uses an absolute or relative URL that each page contains: `.nextURL(\.links.next)`.
    ///
    /// The value is a string, a URL, an object with `href` that is decoded as a ``JSONValue`` (JSON:API, HAL), or an
    /// optional of these. The URL is resolved and percent-encoded like the target of a ``linkHeader``. The query of the
    /// template is not added. A page without a URL is the last one. A URL with another origin is `.invalidResponse`,
    /// and nothing is sent to that origin.
    public static func nextURL<Link: Encodable & SendableMetatype>(_ link: any KeyPath<Value, Link> & Sendable)
        -> Pagination
    {
        linked { try JSONValue(cursor: $0.value[keyPath: link]) }
    }

    /// Uses an absolute or relative URL that each page contains. The sequence ends when the value at `hasMore` is
    /// false, even if that page contains a URL, or when a page contains no URL.
    public static func nextURL<Link: Encodable & SendableMetatype>(
        _ link: any KeyPath<Value, Link> & Sendable, hasMore: any KeyPath<Value, Bool> & Sendable
    ) -> Pagination {
        linked { $0.value[keyPath: hasMore] ? try JSONValue(cursor: $0.value[keyPath: link]) : nil }
    }

    private static func linked(find: @escaping @Sendable (Page<Value>) throws -> JSONValue?) -> Pagination {
        Pagination(
            firstPage: 1, start: .first,
            isOwn: { if case .url = $0 { true } else { $0 == .first } },
            isPinned: { _ in false }, blindly: { _ in nil }, write: { _, _ in },
            next: { _, page in try find(page).map { .next(.url(try page.target(of: $0))) } ?? .last })
    }
}

extension Page {
    private var context: URLParts? { (try? response.request.urlString()).map { URLParts($0) } }

    /// Returns the first link to the next page.
    ///
    /// - Throws: `.invalidResponse` if more than 100 links before it have an anchor that refers to another document.
    ///   The limit is necessary because each anchor is resolved against the URL of the page, and a server can make both
    ///   long.
    fileprivate func nextLink() throws -> LinkHeader.Link? {
        var foreign = 0
        for link in LinkHeader.links(in: response.headers.values(for: .link)) where link.relations.contains("next") {
            guard let anchor = link["anchor"], !isContext(anchor) else { return link }
            foreign += 1
            if foreign > 100 {
                throw error(
                    .invalidResponse,
                    "more than 100 links to a next page have an anchor that refers to another document")
            }
        }
        return nil
    }

    /// Returns whether an anchor refers to this page (RFC 8288, 3.2).
    private func isContext(_ anchor: String) -> Bool {
        guard let context else { return true }
        return PageURL(context.resolving(URLParts(anchor))) == PageURL(context)
    }

    /// Returns the URL reference of a link: a string, or an object with `href` (JSON:API, HAL).
    private func reference(of link: JSONValue) throws -> String {
        if case .string(let text) = link { return ASCII.trimmed(text) }
        guard case .string(let text)? = link["href"] else {
            throw error(.invalidResponse, "the link to the next page is neither a string nor an object with href")
        }
        if link["templated"] == .bool(true) {
            throw error(.invalidResponse, "the link to the next page is a URI template")
        }
        return ASCII.trimmed(text)
    }

    /// Returns the absolute URL of a link, which must have the origin of the page.
    fileprivate func target(of link: JSONValue) throws -> String {
        let reference = try reference(of: link)
        guard !reference.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw error(.invalidResponse, "the link to the next page contains a control character")
        }
        guard let context, let origin = response.request.origin else {
            throw error(.invalidResponse, "the page has no URL against which the link could be resolved")
        }
        var target = context.resolving(URLParts(reference)).escaped(path: .pathLiteral, query: .queryLiteral)
        target.fragment = nil
        guard let linked = HTTPOrigin(target), target.userInfo == nil else {
            throw error(
                .invalidResponse,
                "the link to the next page is not an http or https URL, contains a user or password, or its host is not ASCII"
            )
        }
        guard linked == origin else {
            throw error(
                .invalidResponse,
                "the link to the next page leads to another origin: this page is at \(origin), the next one is at "
                    + "\(linked); it was not requested")
        }
        guard response.request.withheldHeaders.isEmpty else {
            throw error(
                .invalidResponse,
                "the request for this page was redirected to another origin and lost its credentials; the link to the "
                    + "next page, at \(origin), was not followed")
        }
        return target.string
    }
}

extension Pagination {
    /// Uses the `Link` header: the target of the first link with the relation `next` (RFC 8288).
    ///
    /// The target is resolved against the URL of the page and requested byte for byte, except that spaces and
    /// characters outside ASCII are percent-encoded. The query of the template is not added to it. A page without such
    /// a link is the last. A link to another origin is an error, and nothing is sent to that origin.
    public static var linkHeader: Pagination {
        linked { try $0.nextLink().map { .string($0.target) } }
    }

    /// Uses a URL in the page, absolute or relative: `.nextURL(\.links.next)`.
    ///
    /// The member is a string, a URL, an object with `href` that is decoded as a ``JSONValue`` (JSON:API, HAL), or an
    /// optional of these. It is resolved against the URL of the page and requested byte for byte, except that spaces
    /// and characters outside ASCII are percent-encoded. The query of the template is not added to it. A page without a
    /// URL is the last. A link to another origin is an error, and nothing is sent to that origin.
    public static func nextURL<Link: PageCursor>(_ link: any KeyPath<Value, Link> & Sendable) -> Pagination {
        linked { $0.value[keyPath: link].cursorValue }
    }

    /// Uses a URL in the page, until a page declares that no other follows, even if it has a URL.
    public static func nextURL<Link: PageCursor>(
        _ link: any KeyPath<Value, Link> & Sendable, hasMore: any KeyPath<Value, Bool> & Sendable
    ) -> Pagination {
        linked { $0.value[keyPath: hasMore] ? $0.value[keyPath: link].cursorValue : nil }
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
    /// - Throws: `.invalidResponse` if more than 100 links before it have an anchor to another document. Each anchor is
    ///   resolved against the URL of the page, and the server can make both long.
    fileprivate func nextLink() throws -> LinkHeader.Link? {
        var foreign = 0
        for link in LinkHeader.links(in: response.headers.values(for: .link)) where link.relations.contains("next") {
            guard let anchor = link["anchor"], !isContext(anchor) else { return link }
            foreign += 1
            if foreign > 100 {
                throw error(.invalidResponse, "more than 100 links to a next page have an anchor at another document")
            }
        }
        return nil
    }

    /// Returns whether an anchor refers to this page (RFC 8288, 3.2).
    private func isContext(_ anchor: String) -> Bool {
        guard var context else { return true }
        var target = context.resolving(URLParts(anchor))
        (target.fragment, context.fragment) = (nil, nil)
        return target == context
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
        var target = context.resolving(URLParts(reference)).escaped(path: .unprintable, query: .unprintable)
        target.fragment = nil
        guard let linked = HTTPOrigin(target), target.userInfo == nil else {
            throw error(.invalidResponse, "the link to the next page is not an http or https URL")
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
                "this page was redirected to another origin, \(origin), without its credentials; its link to the next "
                    + "page was not followed")
        }
        return target.string
    }
}

// SPDX-License-Identifier: MIT
/// Describes how an API paginates: the parameters for a page, and how a page identifies the next one.
///
/// ```swift
/// let list = ListUsers().paginated(by: .cursor(\.next, parameter: "cursor"))
/// for try await user in client.items(of: list, at: \.users) { print(user.login) }
/// ```
///
/// Pass it to ``RequestTemplate/paginated(by:)``. Choose by what the API sends:
///
/// - Page numbers: ``page(start:step:parameter:size:totalPagesHeader:)``.
/// - Offsets: ``offset(limit:start:parameter:limitParameter:)``.
/// - A cursor in the page or in a header: ``cursor(_:parameter:hasMore:)``, ``header(_:parameter:)``.
/// - The key of the last item: ``lastItem(of:_:parameter:hasMore:)``.
/// - A link to the next page: ``linkHeader``, ``nextURL(_:hasMore:)``.
///
/// For other APIs, create a pagination from two closures:
///
/// ```swift
/// let byWeek = Pagination<Report>(parameters: { position in
///     if case .cursor(let week) = position { [("week", week)] } else { [] }
/// }, next: { _, page in page.value.previousWeek.map { .next(.cursor(.string($0))) } ?? .last })
/// ```
///
/// Law: `parameters` always returns the same for the same position, and `next` for the same page.
public struct Pagination<Value: Sendable>: Sendable {
    /// The parameters for a page with their values. Null removes a query parameter.
    public typealias Parameters = [(parameter: PageParameter, value: JSONValue)]

    var firstPage = 1
    var start = PagePosition.first
    /// Whether a position belongs to this pagination. A checkpoint may come from a different kind of pagination.
    var isOwn: @Sendable (PagePosition) -> Bool = { _ in true }
    /// Whether the template itself sets the page.
    var isPinned: @Sendable (ParameterDraft) -> Bool = { _ in false }
    /// Returns the next position without looking at a page. Nil if only the page contains the position.
    var blindly: @Sendable (PagePosition) -> PagePosition? = { _ in nil }
    var write: @Sendable (PagePosition, inout ParameterDraft) -> Void
    var next: @Sendable (PagePosition, Page<Value>) throws -> PageContinuation<PagePosition>
}

extension Pagination {
    /// Creates a custom pagination.
    ///
    /// - Parameters:
    ///   - start: the position of the first page. Default: ``PagePosition/first``.
    ///   - parameters: returns the parameters for a position.
    ///   - next: returns the continuation after a page.
    public init(
        start: PagePosition = .first, parameters: @escaping @Sendable (PagePosition) -> Parameters,
        next: @escaping @Sendable (PagePosition, Page<Value>) throws -> PageContinuation<PagePosition>
    ) {
        self.init(
            start: start,
            write: { position, draft in
                for (parameter, value) in parameters(position) { draft.write(value, at: parameter) }
            }, next: next)
    }

    /// Uses page numbers. The sequence ends at a page that is empty or not full.
    ///
    /// - Parameters:
    ///   - start: the number of the first page. Default: 1.
    ///   - step: the difference between consecutive page numbers. 0 results in `.invalidRequest`. Default: 1.
    ///   - parameter: the parameter for the number. Default: `page`.
    ///   - size: the number of items on a full page. A page with fewer items is the last one. A size less than 1
    ///     results in `.invalidRequest`. Default: nil (the sequence ends at the first empty page, which isn't
    ///     returned).
    ///   - totalPagesHeader: a response header with the number of the last page. If a response has it, only this number
    ///     determines the last page. Default: nil.
    public static func page(
        start: Int = 1, step: Int = 1, parameter: PageParameter = "page", size: Int? = nil,
        totalPagesHeader: HTTPHeaders.Name? = nil
    ) -> Pagination {
        counted(from: .number(start), firstPage: start, by: step, parameter: parameter, size: size) {
            position, page in
            guard let totalPagesHeader, let last = page.response.headers[totalPagesHeader].flatMap({ Int($0) }) else {
                return nil
            }
            return position >= last
        }
    }

    /// Uses page numbers. The sequence ends when `hasMore` returns false for a page: `.page(hasMore: \.hasMore)`.
    ///
    /// Empty pages are returned like any other page and don't end the sequence. For `start`, `step` and `parameter`,
    /// see ``page(start:step:parameter:size:totalPagesHeader:)``.
    public static func page(
        start: Int = 1, step: Int = 1, parameter: PageParameter = "page",
        hasMore: @escaping @Sendable (Value) -> Bool
    ) -> Pagination {
        counted(from: .number(start), firstPage: start, by: step, parameter: parameter, size: nil) { _, page in
            !hasMore(page.value)
        }
    }

    /// Uses offsets: the number of items before each page. The sequence ends at a page that is empty or has fewer items
    /// than the limit.
    ///
    /// - Parameters:
    ///   - limit: the number of items on a full page, sent in `limitParameter`. A limit less than 1 results in
    ///     `.invalidRequest`.
    ///   - start: the offset of the first page. Default: 0.
    ///   - parameter: the parameter for the offset. Default: `offset`.
    ///   - limitParameter: the parameter for the limit. If the template sets it, the value in the template is kept.
    ///     Default: `limit`.
    public static func offset(
        limit: Int, start: Int = 0, parameter: PageParameter = "offset", limitParameter: PageParameter = "limit"
    ) -> Pagination {
        let offsets = counted(from: .offset(start), firstPage: 1, by: limit, parameter: parameter, size: limit)
        var limited = offsets
        limited.write = { position, draft in
            if !draft.contains(limitParameter) { draft.write(.int(Int64(limit)), at: limitParameter) }
            offsets.write(position, &draft)
        }
        return limited
    }

    private static func counted(
        from start: PagePosition, firstPage: Int, by step: Int, parameter: PageParameter, size: Int?,
        isLast: @escaping @Sendable (Int, Page<Value>) -> Bool? = { _, _ in nil }
    ) -> Pagination {
        Pagination(
            firstPage: firstPage, start: start, isOwn: { $0.isCounted(as: start) },
            isPinned: { $0.contains(parameter) },
            blindly: { $0.advanced(by: step) },
            write: { position, draft in
                if step == 0 { draft.refuse("the step of the pagination is 0, so each page would be the first") }
                if let size, size < 1 { draft.refuse("the page size \(size) is less than 1") }
                if let count = position.count { draft.write(.int(Int64(count)), at: parameter) }
            },
            next: { position, page in
                guard let next = position.advanced(by: step), let count = position.count else {
                    throw page.error(.invalidRequest, "the checkpoint was created by a different kind of pagination")
                }
                if let isLast = isLast(count, page) { return isLast ? .last : .next(next) }
                guard let items = page.itemCount else { throw page.uncounted }
                if items == 0 { return .ended }
                return size.map { items < $0 } == true ? .last : .next(next)
            })
    }
}

extension PagePosition {
    fileprivate var count: Int? {
        switch self {
        case .number(let count), .offset(let count): count
        default: nil
        }
    }

    fileprivate func isCounted(as start: PagePosition) -> Bool {
        switch (self, start) {
        case (.number, .number), (.offset, .offset): true
        default: false
        }
    }

    /// Returns the position after a step. Nil if it is neither a number nor an offset, or would overflow.
    fileprivate func advanced(by step: Int) -> PagePosition? {
        guard let count else { return nil }
        let (next, overflow) = count.addingReportingOverflow(step)
        guard !overflow else { return nil }
        if case .number = self { return .number(next) }
        return .offset(next)
    }
}

extension Pagination {
    /// Follows the link to the next page in the `Link` header of each response (RFC 8288).
    ///
    /// Only the first link with the relation `next` counts. A page without such a link is the last one.
    ///
    /// - The target is resolved against the page URL. The query of the template isn't added.
    /// - As in a `Location`, characters that RFC 3986 doesn't allow in a URL, such as spaces, brackets and characters
    ///   outside ASCII, are percent-encoded, and a `%` that doesn't begin an escape is sent as `%25`. All other
    ///   characters are sent unchanged.
    /// - If the link leads to a different origin, the page itself is returned, and the next call throws
    ///   `.invalidResponse`. That origin receives nothing.
    public static var linkHeader: Pagination {
        linked { try $0.nextLink().map { .string($0.reference) } }
    }

    /// Follows an absolute or relative URL that each page contains: `.nextURL(\.links.next)`.
    ///
    /// The value is a string, a URL, an object with `href` that is decoded as a ``JSONValue`` (JSON:API, HAL), or an
    /// optional of these. If such an object has a true `templated`, its `href` is a ``URITemplate``, and its variables
    /// get their values from the query of the page.
    ///
    /// The URL is resolved and percent-encoded as in ``linkHeader``, and the query of the template isn't added. If it
    /// leads to a different origin, the page itself is returned, and the next call throws `.invalidResponse`. That
    /// origin receives nothing.
    ///
    /// - Parameters:
    ///   - link: where the decoded page contains the URL. A page without a URL is the last one.
    ///   - hasMore: returns false for the last page, even if it contains a URL. Default: always true.
    public static func nextURL<Link: Encodable & SendableMetatype>(
        _ link: any KeyPath<Value, Link> & Sendable, hasMore: @escaping @Sendable (Value) -> Bool = { _ in true }
    ) -> Pagination {
        linked { hasMore($0.value) ? try JSONValue(cursor: $0.value[keyPath: link]) : nil }
    }

    private static func linked(find: @escaping @Sendable (Page<Value>) throws -> JSONValue?) -> Pagination {
        Pagination(
            isOwn: { if case .url = $0 { true } else { $0 == .first } }, write: { _, _ in },
            next: { _, page in try find(page).map { .next(.url(try page.target(of: $0))) } ?? .last })
    }
}

extension Page {
    private var context: HTTPResponse.Link.Context? { HTTPResponse.Link.Context(of: response) }

    /// Returns the first link of this page with the relation `next`.
    ///
    /// - Throws: `.invalidResponse` after 100 links with an anchor that refers to a different document. The number is
    ///   limited because each anchor is resolved against the page URL, and a server can make both long.
    fileprivate func nextLink() throws -> HTTPResponse.Link? {
        var foreign = 0
        for link in response.links where link.relations.contains("next") {
            guard let anchor = link["anchor"], !isContext(anchor) else { return link }
            foreign += 1
            if foreign > 100 {
                throw error(
                    .invalidResponse,
                    "more than 100 links to a next page have an anchor that refers to a different document")
            }
        }
        return nil
    }

    /// Whether an anchor refers to this page (RFC 8288, 3.2).
    private func isContext(_ anchor: String) -> Bool {
        guard let context else { return true }
        return PageURL(context.resolving(anchor)) == PageURL(context.url)
    }

    /// Returns the URL reference in a link: a string, or the `href` of an object (JSON:API, HAL).
    private func reference(of link: JSONValue) throws -> String {
        if case .string(let text) = link { return ASCII.trimmed(text) }
        guard case .string(let text) = link["href"] else {
            throw error(.invalidResponse, "the link to the next page is neither a string nor an object with href")
        }
        guard link["templated"] == .bool(true) else { return ASCII.trimmed(text) }
        let values = URITemplate.Values(response.request.query)
        let expansion = URITemplate(ASCII.trimmed(text)).expansion(of: values)
        if let defect = expansion.defect {
            throw error(.invalidResponse, "the link to the next page cannot be used: \(defect.description)")
        }
        return expansion.text
    }

    /// Returns the absolute URL in a link, which must have the same origin as the page.
    fileprivate func target(of link: JSONValue) throws -> String {
        let reference = try reference(of: link)
        guard !reference.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw error(.invalidResponse, "the link to the next page contains a control character")
        }
        guard let context, let origin = response.request.origin else {
            throw error(.invalidResponse, "the page has no URL against which the link could be resolved")
        }
        var target = context.resolving(reference).escaped(path: .pathLiteral, query: .queryLiteral)
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
                "the link to the next page leads from \(origin) to a different origin, so the page at \(linked) was "
                    + "not requested")
        }
        guard response.request.removedHeaders.isEmpty else {
            throw error(
                .invalidResponse,
                "the request for this page was redirected to a different origin and lost its credentials, so the link "
                    + "to the next page, at \(origin), was not followed")
        }
        return target.string
    }
}

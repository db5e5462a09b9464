extension Pagination {
    /// By the number of the page, until one is empty or shorter than a full one.
    ///
    /// - Parameters:
    ///   - start: the number of the first page. Default: 1.
    ///   - step: what is added for the next; 0 is `.invalidRequest`. Default: 1.
    ///   - parameter: where the number goes. Default: `page`.
    ///   - size: how many items a full page has, so that a shorter one is the last; less than 1 is `.invalidRequest`.
    ///     Default: nil, the walk ends at the first empty page, which is not delivered.
    ///   - totalPagesHeader: a header with the number of the last page, which is then believed. Default: nil.
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

    /// By the number of the page, until a page declares that there are no more: `.page(hasMore: \.hasMore)`.
    ///
    /// A page without items is delivered, and is not the last while it declares more.
    ///
    /// - Parameters:
    ///   - start: the number of the first page. Default: 1.
    ///   - step: what is added for the next; 0 is `.invalidRequest`. Default: 1.
    ///   - parameter: where the number goes. Default: `page`.
    ///   - hasMore: where the decoded page declares that another one follows.
    public static func page(
        start: Int = 1, step: Int = 1, parameter: PageParameter = "page",
        hasMore: any KeyPath<Value, Bool> & Sendable
    ) -> Pagination {
        counted(from: .number(start), firstPage: start, by: step, parameter: parameter, size: nil) { _, page in
            !page.value[keyPath: hasMore]
        }
    }

    /// By the number of items before the page, until one is empty or shorter than the limit.
    ///
    /// - Parameters:
    ///   - limit: how many items a full page has; it is sent. Less than 1 is `.invalidRequest`.
    ///   - start: how many items are skipped at first. Default: 0.
    ///   - parameter: where the offset goes. Default: `offset`.
    ///   - limitParameter: where the limit goes. Default: `limit`.
    public static func offset(
        limit: Int, start: Int = 0, parameter: PageParameter = "offset", limitParameter: PageParameter = "limit"
    ) -> Pagination {
        let offsets = counted(from: .offset(start), firstPage: 1, by: limit, parameter: parameter, size: limit)
        return Pagination(
            firstPage: 1, start: offsets.start, isOwn: offsets.isOwn, isPinned: offsets.isPinned,
            blindly: offsets.blindly,
            write: { position, place in
                if !place.contains(limitParameter) { place.write(.int(Int64(limit)), at: limitParameter) }
                offsets.write(position, &place)
            }, next: offsets.next)
    }

    private static func counted(
        from start: PagePosition, firstPage: Int, by step: Int, parameter: PageParameter, size: Int?,
        isLast: @escaping @Sendable (Int, Page<Value>) -> Bool? = { _, _ in nil }
    ) -> Pagination {
        Pagination(
            firstPage: firstPage, start: start, isOwn: { $0.isCounted(as: start) },
            isPinned: { $0.contains(parameter) },
            blindly: { $0.advanced(by: step) },
            write: { position, place in
                if step == 0 { place.refuse("the step from page to page is 0") }
                if let size, size < 1 { place.refuse("a full page cannot have \(size) items") }
                if let count = position.count { place.write(.int(Int64(count)), at: parameter) }
            },
            next: { position, page in
                guard let next = position.advanced(by: step), let count = position.count else {
                    throw page.error(.invalidRequest, "the checkpoint is of another kind of pagination")
                }
                if let isLast = isLast(count, page) { return isLast ? .last : .next(next) }
                guard let items = page.itemCount else { throw page.uncounted }
                if items == 0 { return .ended }
                return size.map { items < $0 } == true ? .last : .next(next)
            })
    }
}

extension PagePosition {
    /// The number or the offset.
    fileprivate var count: Int? {
        switch self {
        case .number(let count), .offset(let count): count
        default: nil
        }
    }

    /// Whether it counts what the start of a walk counts.
    fileprivate func isCounted(as start: PagePosition) -> Bool {
        switch (self, start) {
        case (.number, .number), (.offset, .offset): true
        default: false
        }
    }

    /// The position so many further on; nil when it is none that can be counted, or the count would overflow.
    fileprivate func advanced(by step: Int) -> PagePosition? {
        guard let count else { return nil }
        let (next, overflow) = count.addingReportingOverflow(step)
        guard !overflow else { return nil }
        if case .number = self { return .number(next) }
        return .offset(next)
    }
}

extension Page {
    /// An error of the walk, with the page's response.
    func error(_ code: HTTPError.Code, _ message: String) -> HTTPError {
        HTTPError(code, request: response.request, response: response, message: message)
    }

    fileprivate var uncounted: HTTPError {
        error(
            .invalidRequest,
            "\(Value.self) is no collection, so the end of the pages cannot be told: walk with items(of:at:)")
    }
}

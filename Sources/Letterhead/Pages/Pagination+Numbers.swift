extension Pagination {
    /// Uses page numbers. The sequence ends at a page that is empty or not full.
    ///
    /// - Parameters:
    ///   - start: the number of the first page. Default: 1.
    ///   - step: the difference between the numbers of consecutive pages; 0 is `.invalidRequest`. Default: 1.
    ///   - parameter: the parameter for the number. Default: `page`.
    ///   - size: the number of items on a full page. A page with fewer items is the last one. A size less than 1 is
    ///     `.invalidRequest`. Default: nil (the sequence ends at the first empty page, which is not returned).
    ///   - totalPagesHeader: a response header with the number of the last page. If a response has it, the number alone
    ///     determines which page is the last one. Default: nil.
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

    /// Uses page numbers. The sequence ends when the value at `hasMore` is false: `.page(hasMore: \.hasMore)`.
    ///
    /// An empty page is returned like any other page. It does not end the sequence.
    ///
    /// - Parameters:
    ///   - start: the number of the first page. Default: 1.
    ///   - step: the difference between the numbers of consecutive pages; 0 is `.invalidRequest`. Default: 1.
    ///   - parameter: the parameter for the number. Default: `page`.
    ///   - hasMore: the key path of the value that is true if another page follows.
    public static func page(
        start: Int = 1, step: Int = 1, parameter: PageParameter = "page",
        hasMore: any KeyPath<Value, Bool> & Sendable
    ) -> Pagination {
        counted(from: .number(start), firstPage: start, by: step, parameter: parameter, size: nil) { _, page in
            !page.value[keyPath: hasMore]
        }
    }

    /// Uses offsets: the number of items before each page. The sequence ends at a page that is empty or has fewer items
    /// than the limit.
    ///
    /// - Parameters:
    ///   - limit: the number of items on a full page. It is sent in `limitParameter`. A limit less than 1 is
    ///     `.invalidRequest`.
    ///   - start: the offset of the first page. Default: 0.
    ///   - parameter: the parameter for the offset. Default: `offset`.
    ///   - limitParameter: the parameter for the limit. A value that the template sets is kept. Default: `limit`.
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
                if step == 0 { place.refuse("the step of the pagination is 0; use another number") }
                if let size, size < 1 { place.refuse("the page size \(size) is less than 1") }
                if let count = position.count { place.write(.int(Int64(count)), at: parameter) }
            },
            next: { position, page in
                guard let next = position.advanced(by: step), let count = position.count else {
                    throw page.error(.invalidRequest, "the checkpoint belongs to another kind of pagination")
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

    /// Returns whether the position is of the same kind as the start.
    fileprivate func isCounted(as start: PagePosition) -> Bool {
        switch (self, start) {
        case (.number, .number), (.offset, .offset): true
        default: false
        }
    }

    /// Returns the position after a step; nil if the position is neither a number nor an offset, or would overflow.
    fileprivate func advanced(by step: Int) -> PagePosition? {
        guard let count else { return nil }
        let (next, overflow) = count.addingReportingOverflow(step)
        guard !overflow else { return nil }
        if case .number = self { return .number(next) }
        return .offset(next)
    }
}

extension Page {
    /// Returns an error of the page sequence, with the response of the page.
    func error(_ code: HTTPError.Code, _ message: String) -> HTTPError {
        HTTPError(code, request: response.request, response: response, message: message)
    }

    fileprivate var uncounted: HTTPError {
        error(
            .invalidRequest,
            "\(Value.self) is not a collection, so the last page cannot be detected; use items(of:at:)")
    }
}

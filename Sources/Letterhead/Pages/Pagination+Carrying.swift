extension Pagination {
    /// Returns the pagination, extended by a second value that is read from each page and sent with the next request.
    ///
    /// ```swift
    /// .lastItem(of: \.hits, \.sort, parameter: "search_after").carrying(\.pit, parameter: .json("pit", "id"))
    /// ```
    ///
    /// If a page does not contain the value, the value of the page before it is sent. The modifier has an effect only
    /// on paginations with cursors, including ``lastItem(of:_:parameter:)`` and ``header(_:parameter:)``. It has no
    /// effect on page numbers, offsets and links.
    ///
    /// - Parameters:
    ///   - value: the key path of the value in the decoded page.
    ///   - parameter: the parameter for the value in the next request. It replaces a value that the template sets.
    public func carrying<Carried: Encodable & SendableMetatype>(
        _ value: any KeyPath<Value, Carried> & Sendable, parameter: PageParameter
    ) -> Pagination {
        Pagination(
            firstPage: firstPage, start: start,
            isOwn: { [isOwn] in isOwn(CarriedCursor($0).position) },
            isPinned: isPinned,
            blindly: { [blindly] in blindly(CarriedCursor($0).position) },
            write: { [write] position, place in
                let both = CarriedCursor(position)
                write(both.position, &place)
                if let carried = both.carried { place.write(carried, at: parameter) }
            },
            next: { [next] position, page in
                let both = CarriedCursor(position)
                let step = try next(both.position, page)
                guard case .next(.cursor(let cursor)) = step else { return step }
                let carried = try JSONValue(cursor: page.value[keyPath: value]) ?? both.carried
                return .next(CarriedCursor.joined(cursor, carried))
            })
    }
}

extension PagePosition {
    /// The position without carried values, by which a loop is detected: the same cursor with a new carried value is
    /// still the same page.
    var withoutCarried: PagePosition { CarriedCursor(self).position }
}

/// A cursor with a carried value, encoded as a single cursor.
private struct CarriedCursor {
    /// The cursor without the carried value.
    let position: PagePosition
    let carried: JSONValue?

    init(_ joined: PagePosition) {
        if case .cursor(.object(let both)) = joined, both.count == 2, let cursor = both["cursor"],
            let carried = both["carried"]
        {
            (position, self.carried) = (.cursor(cursor), carried == .null ? nil : carried)
        } else {
            (position, carried) = (joined, nil)
        }
    }

    static func joined(_ cursor: JSONValue, _ carried: JSONValue?) -> PagePosition {
        .cursor(["cursor": cursor, "carried": carried ?? .null])
    }
}

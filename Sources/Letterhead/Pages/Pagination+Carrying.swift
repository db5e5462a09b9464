extension Pagination {
    /// The same, where each page also brings something else that belongs into the request of the next:
    /// `.lastItem(of: \.hits, \.sort, parameter: "search_after").carrying(\.pit, parameter: .json("pit", "id"))`.
    ///
    /// A page that brings none leaves what the page before it brought. Only pages that are named by a cursor or a last item
    /// carry; numbered ones and links stay as they are.
    ///
    /// - Parameters:
    ///   - value: where it is in the decoded page.
    ///   - parameter: where it goes in the next request, over what the template has there.
    public func carrying<Carried: PageCursor>(
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
                let carried = page.value[keyPath: value].cursorValue ?? both.carried
                return .next(CarriedCursor.joined(cursor, carried))
            })
    }
}

extension PagePosition {
    /// The position without what is carried: a walk that comes to the same cursor again goes in a circle, whatever is new
    /// beside it.
    var withoutCarried: PagePosition { CarriedCursor(self).position }
}

/// A cursor with something beside it, which is one cursor to everybody else.
private struct CarriedCursor {
    /// The cursor alone.
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

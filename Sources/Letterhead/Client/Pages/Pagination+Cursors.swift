// SPDX-License-Identifier: MIT
import LetterheadFoundation

extension JSONValue {
    /// Creates the JSON of a cursor: a value in a page that identifies the next page.
    ///
    /// Returns nil after the last page: for nil, null, an empty string and an empty list.
    ///
    /// - Throws: `EncodingError` if the value cannot be encoded as JSON.
    init?(cursor: some Encodable) throws {
        let json: JSONValue =
            switch cursor {
            case let json as JSONValue: json
            case let text as String: .string(text)
            case let number as Int: .int(Int64(number))
            case let url as URL: .string(url.relativeString)
            default: try JSONText.value(of: JSONEncoder().encode(cursor))
            }
        switch json {
        case .null, .array([]): return nil
        case .string(let text) where text.isEmpty: return nil
        default: self = json
        }
    }
}

extension Pagination {
    /// Uses a cursor that each page contains: `.cursor(\.nextCursor, parameter: "cursor")`.
    ///
    /// A page without a cursor, or with an empty cursor, is the last one. After a page with a cursor but without items,
    /// the sequence continues.
    ///
    /// - Parameters:
    ///   - cursor: where the decoded page contains the cursor. The cursor is a string, a number, a URL, any other value
    ///     that can be encoded as JSON, or an optional of these.
    ///   - parameter: the parameter for the cursor in the next request. In a query, the cursor is percent-encoded once.
    ///   - hasMore: returns false for the last page, even if it contains a cursor. Default: always true.
    public static func cursor<Cursor: Encodable & SendableMetatype>(
        _ cursor: any KeyPath<Value, Cursor> & Sendable, parameter: PageParameter,
        hasMore: @escaping @Sendable (Value) -> Bool = { _ in true }
    ) -> Pagination {
        self.cursor(parameter: parameter) { page in
            hasMore(page.value) ? try JSONValue(cursor: page.value[keyPath: cursor]) : nil
        }
    }

    /// Uses a cursor that a closure returns for each page. Nil marks the last page.
    public static func cursor(
        parameter: PageParameter, find: @escaping @Sendable (Page<Value>) throws -> JSONValue?
    ) -> Pagination {
        Pagination(
            isOwn: { if case .cursor = $0 { true } else { $0 == .first } }, isPinned: { $0.contains(parameter) },
            write: { position, draft in
                if case .cursor(let value) = position { draft.write(value, at: parameter) }
            },
            next: { _, page in try find(page).map { .next(.cursor($0)) } ?? .last })
    }

    /// Uses a value in the last item of each page as the cursor:
    /// `.lastItem(of: \.data, \.id, parameter: "starting_after")`.
    ///
    /// The sequence ends at a page without items, at a page with a last item that lacks the value, and when `hasMore`
    /// returns false.
    public static func lastItem<Items: BidirectionalCollection & SendableMetatype, Key: Encodable & SendableMetatype>(
        of items: any KeyPath<Value, Items> & Sendable, _ key: any KeyPath<Items.Element, Key> & Sendable,
        parameter: PageParameter, hasMore: @escaping @Sendable (Value) -> Bool = { _ in true }
    ) -> Pagination {
        cursor(parameter: parameter) { page in
            guard hasMore(page.value), let last = page.value[keyPath: items].last else { return nil }
            return try JSONValue(cursor: last[keyPath: key])
        }
    }

    /// Uses a header in each response as the cursor: `.header("X-Next-Page", parameter: "page")`. A page without the
    /// header, or with an empty value, is the last one.
    public static func header(_ name: HTTPHeaders.Name, parameter: PageParameter) -> Pagination {
        cursor(parameter: parameter) { page in try page.response.headers[name].flatMap { try JSONValue(cursor: $0) } }
    }
}

extension Pagination {
    /// Extends the pagination by a second value that is read from each page and sent with the next request.
    ///
    /// ```swift
    /// .lastItem(of: \.hits, \.sort, parameter: "search_after").carrying(\.pit, parameter: .json("pit", "id"))
    /// ```
    ///
    /// If a page doesn't contain the value, the value from the page before is sent. The modifier affects only
    /// paginations with cursors, including ``lastItem(of:_:parameter:hasMore:)`` and ``header(_:parameter:)``. It has
    /// no effect on page numbers, offsets and links.
    ///
    /// - Parameters:
    ///   - value: where the decoded page contains the value.
    ///   - parameter: the parameter for the value in the next request. It replaces a value that the template sets.
    public func carrying<Carried: Encodable & SendableMetatype>(
        _ value: any KeyPath<Value, Carried> & Sendable, parameter: PageParameter
    ) -> Pagination {
        var carrying = self
        carrying.write = { position, draft in
            let both = CarriedCursor(position)
            write(both.position, &draft)
            if let carried = both.carried { draft.write(carried, at: parameter) }
        }
        carrying.next = { position, page in
            let both = CarriedCursor(position)
            let step = try next(both.position, page)
            guard case .next(.cursor(let cursor)) = step else { return step }
            let carried = try JSONValue(cursor: page.value[keyPath: value]) ?? both.carried
            return .next(CarriedCursor.joined(cursor, carried))
        }
        return carrying
    }
}

extension PagePosition {
    /// The position without carried values, for detecting loops: the same cursor with a new carried value is still the
    /// same page.
    var withoutCarried: PagePosition { CarriedCursor(self).position }
}

/// A cursor with a carried value, encoded as a single cursor.
private struct CarriedCursor {
    /// The position without the carried value.
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

public import Foundation

/// What a page may name the next one by: a text, a whole number, a URL, any JSON value, or an optional of these.
public protocol PageCursor: Sendable {
    /// The cursor as JSON; nil when it names no page.
    var cursorValue: JSONValue? { get }
}

extension String: PageCursor {
    /// The text; an empty one names no page.
    public var cursorValue: JSONValue? { isEmpty ? nil : .string(self) }
}

extension URL: PageCursor {
    /// The URL as a text.
    public var cursorValue: JSONValue? { .string(relativeString) }
}

extension Int: PageCursor {
    /// The number.
    public var cursorValue: JSONValue? { .int(Int64(self)) }
}

extension Int64: PageCursor {
    /// The number.
    public var cursorValue: JSONValue? { .int(self) }
}

extension JSONValue: PageCursor {
    /// The value; null and an empty text name no page.
    public var cursorValue: JSONValue? { self == .null || self == .string("") ? nil : self }
}

extension Optional: PageCursor where Wrapped: PageCursor {
    /// The cursor, if there is one.
    public var cursorValue: JSONValue? { self?.cursorValue }
}

extension Array: PageCursor where Element == JSONValue {
    /// The list as it is, nulls included; an empty one names no page.
    public var cursorValue: JSONValue? { isEmpty ? nil : .array(self) }
}

extension Pagination {
    /// By a cursor that each page brings: `.cursor(\.nextCursor, parameter: "cursor")`.
    ///
    /// A page without a cursor, or with an empty one, is the last. A page without items but with a cursor is not.
    ///
    /// - Parameters:
    ///   - cursor: where the cursor is in the decoded page.
    ///   - parameter: where it goes in the next request, escaped once.
    public static func cursor<Cursor: PageCursor>(
        _ cursor: any KeyPath<Value, Cursor> & Sendable, parameter: PageParameter
    ) -> Pagination {
        self.cursor(parameter: parameter) { $0.value[keyPath: cursor].cursorValue }
    }

    /// By a cursor that each page brings, until one says that there are no more, whatever its cursor is.
    public static func cursor<Cursor: PageCursor>(
        _ cursor: any KeyPath<Value, Cursor> & Sendable, parameter: PageParameter,
        hasMore: any KeyPath<Value, Bool> & Sendable
    ) -> Pagination {
        self.cursor(parameter: parameter) { $0.value[keyPath: hasMore] ? $0.value[keyPath: cursor].cursorValue : nil }
    }

    /// By a cursor that a closure finds in each page; nil ends the walk.
    public static func cursor(
        parameter: PageParameter, find: @escaping @Sendable (Page<Value>) throws -> JSONValue?
    ) -> Pagination {
        Pagination(
            firstPage: 1, start: .first,
            isOwn: { if case .cursor = $0 { true } else { $0 == .first } },
            isPinned: { $0.contains(parameter) }, blindly: { _ in nil },
            write: { position, place in
                if case .cursor(let value) = position { place.write(value, at: parameter) }
            },
            next: { _, page in try find(page).map { .next(.cursor($0)) } ?? .last })
    }

    /// By the last item of each page, until a page has none.
    ///
    /// - Parameters:
    ///   - items: where the items are in the decoded page.
    ///   - key: what of the last item names the next page.
    ///   - parameter: where it goes in the next request.
    public static func lastItem<Items: BidirectionalCollection & SendableMetatype, Key: PageCursor>(
        of items: any KeyPath<Value, Items> & Sendable, _ key: any KeyPath<Items.Element, Key> & Sendable,
        parameter: PageParameter
    ) -> Pagination {
        cursor(parameter: parameter) { page in page.value[keyPath: items].last?[keyPath: key].cursorValue }
    }

    /// By the last item of each page, until a page says that there are no more, or has no items:
    /// `.lastItem(of: \.data, \.id, parameter: "starting_after", hasMore: \.hasMore)`.
    public static func lastItem<Items: BidirectionalCollection & SendableMetatype, Key: PageCursor>(
        of items: any KeyPath<Value, Items> & Sendable, _ key: any KeyPath<Items.Element, Key> & Sendable,
        parameter: PageParameter, hasMore: any KeyPath<Value, Bool> & Sendable
    ) -> Pagination {
        cursor(parameter: parameter) { page in
            page.value[keyPath: hasMore] ? page.value[keyPath: items].last?[keyPath: key].cursorValue : nil
        }
    }

    /// By a response header that holds the next page: `.header("X-Next-Page", parameter: "page")`; an empty one, or none,
    /// ends the walk.
    public static func header(_ name: HTTPHeaders.Name, parameter: PageParameter) -> Pagination {
        cursor(parameter: parameter) { page in page.response.headers[name]?.cursorValue }
    }
}

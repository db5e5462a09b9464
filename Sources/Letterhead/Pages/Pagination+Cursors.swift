public import Foundation

/// A value in a page that identifies the next page: a string, an integer, a URL, a JSON value, a list of JSON values,
/// or an optional of these.
public protocol PageCursor: Sendable {
    /// The cursor as JSON; nil if there is no next page.
    var cursorValue: JSONValue? { get }
}

extension String: PageCursor {
    /// The string; nil if it is empty.
    public var cursorValue: JSONValue? { isEmpty ? nil : .string(self) }
}

extension URL: PageCursor {
    /// The URL as a string.
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
    /// The value; nil for null and for an empty string.
    public var cursorValue: JSONValue? { self == .null || self == .string("") ? nil : self }
}

extension Optional: PageCursor where Wrapped: PageCursor {
    /// The wrapped cursor; nil if there is none.
    public var cursorValue: JSONValue? { self?.cursorValue }
}

extension Array: PageCursor where Element == JSONValue {
    /// The list, including nulls; nil if it is empty.
    public var cursorValue: JSONValue? { isEmpty ? nil : .array(self) }
}

extension Pagination {
    /// Uses a cursor that each page contains: `.cursor(\.nextCursor, parameter: "cursor")`.
    ///
    /// A page without a cursor, or with an empty cursor, is the last one. After a page with a cursor but without items,
    /// the sequence continues.
    ///
    /// - Parameters:
    ///   - cursor: the key path of the cursor in the decoded page.
    ///   - parameter: the parameter for the cursor in the next request. The cursor is percent-encoded once.
    public static func cursor<Cursor: PageCursor>(
        _ cursor: any KeyPath<Value, Cursor> & Sendable, parameter: PageParameter
    ) -> Pagination {
        self.cursor(parameter: parameter) { $0.value[keyPath: cursor].cursorValue }
    }

    /// Uses a cursor that each page contains. The sequence ends when the value at `hasMore` is false, even if that page
    /// contains a cursor, or when a page contains no cursor.
    public static func cursor<Cursor: PageCursor>(
        _ cursor: any KeyPath<Value, Cursor> & Sendable, parameter: PageParameter,
        hasMore: any KeyPath<Value, Bool> & Sendable
    ) -> Pagination {
        self.cursor(parameter: parameter) { $0.value[keyPath: hasMore] ? $0.value[keyPath: cursor].cursorValue : nil }
    }

    /// Uses a cursor that a closure returns for each page. If the closure returns nil, the page is the last one.
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

    /// Uses a value of the last item of each page as the cursor. The sequence ends at the first page without items.
    ///
    /// - Parameters:
    ///   - items: the key path of the items in the decoded page.
    ///   - key: the key path of the value in the last item that identifies the next page.
    ///   - parameter: the parameter for this value in the next request.
    public static func lastItem<Items: BidirectionalCollection & SendableMetatype, Key: PageCursor>(
        of items: any KeyPath<Value, Items> & Sendable, _ key: any KeyPath<Items.Element, Key> & Sendable,
        parameter: PageParameter
    ) -> Pagination {
        cursor(parameter: parameter) { page in page.value[keyPath: items].last?[keyPath: key].cursorValue }
    }

    /// Uses a value of the last item of each page as the cursor. The sequence ends when the value at `hasMore` is
    /// false, or at the first page without items.
    ///
    /// ```swift
    /// .lastItem(of: \.data, \.id, parameter: "starting_after", hasMore: \.hasMore)
    /// ```
    public static func lastItem<Items: BidirectionalCollection & SendableMetatype, Key: PageCursor>(
        of items: any KeyPath<Value, Items> & Sendable, _ key: any KeyPath<Items.Element, Key> & Sendable,
        parameter: PageParameter, hasMore: any KeyPath<Value, Bool> & Sendable
    ) -> Pagination {
        cursor(parameter: parameter) { page in
            page.value[keyPath: hasMore] ? page.value[keyPath: items].last?[keyPath: key].cursorValue : nil
        }
    }

    /// Uses a header of each response as the cursor: `.header("X-Next-Page", parameter: "page")`. A page without the
    /// header, or with an empty value, is the last one.
    public static func header(_ name: HTTPHeaders.Name, parameter: PageParameter) -> Pagination {
        cursor(parameter: parameter) { page in page.response.headers[name]?.cursorValue }
    }
}

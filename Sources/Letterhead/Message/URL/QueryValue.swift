// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// A value that a query can contain: strings, numbers, booleans, dates as ISO 8601, UUIDs, arrays of these, and flags.
///
/// Write such values in a ``QueryParameters`` literal. A boolean is written as `true` or `false`, as in a ``FormBody``.
/// For an API that expects `1`, pass `isOpen ? 1 : 0`.
///
/// To make your type a query value, conform it to the protocol. An enumeration with raw values needs no further code.
/// Any other type implements ``append(to:name:)``:
///
/// ```swift
/// enum Order: String, QueryValue { case ascending = "asc", descending = "desc" }
///
/// struct Range: QueryValue {
///     var low, high: Int
///     func append(to query: inout QueryParameters, name: String) { query.append(name, "\(low)..\(high)") }
/// }
/// ```
///
/// Law: ``append(to:name:)`` only appends items, and doesn't escape them. The query escapes all items once.
public protocol QueryValue: Sendable {
    /// Appends this value under a name. It may append any number of items.
    func append(to query: inout QueryParameters, name: String)
}

/// A query value that a ``URITemplate`` expands as a list, even if the list has one element.
protocol QueryElements: QueryValue {
    /// The elements as items with the same name, or nil if this value isn't a list.
    var elements: (any QueryValue)? { get }
}

extension QueryParameters {
    /// The value for an item that consists of its name alone: `["verbose": QueryParameters.flag]` is `?verbose`.
    public static var flag: some QueryValue { QueryFlag() }
}

extension QueryParameters {
    /// The value for one item with all elements, separated by commas: `["ids": QueryParameters.list([1, 2])]` is
    /// `?ids=1,2`.
    ///
    /// It is the style that OpenAPI calls `explode: false`. A comma in an element is escaped. An empty list is omitted.
    /// An array without this function becomes one item for each element: `?ids=1&ids=2`.
    public static func list(_ elements: [some QueryValue]) -> some QueryValue { QueryList(list: elements) }
}

extension QueryParameters {
    /// A value that is already escaped and is written unchanged: `["state": QueryParameters.raw("a%2Fb,c")]` is
    /// `?state=a%2Fb,c`. Use it only for a string that you control, such as a value from a URL.
    ///
    /// A request fails before anything is sent if the string contains an `&`, a `#`, a `%` without two hexadecimal
    /// digits, or a character that a query can't contain (RFC 3986, 3.4).
    public static func raw(_ value: String) -> some QueryValue { RawQueryValue(escaped: value) }
}

private struct RawQueryValue: QueryValue {
    let escaped: String

    func append(to query: inout QueryParameters, name: String) {
        let isValid = PercentEncoding.escapeLiteral(escaped, .queryLiteral).isSame(as: escaped)
        guard isValid, !escaped.utf8.contains(UInt8(ascii: "&")) else {
            let rule = "the raw value contains a character that must be escaped"
            return query.append(QueryParameters.Item(name, refused: rule))
        }
        let name = PercentEncoding.escape(name, .unreserved)
        query.append(QueryParameters.Item(original: "\(name)=\(escaped)"))
    }
}

private struct QueryList<Element: QueryValue>: QueryElements {
    let list: [Element]

    var elements: (any QueryValue)? { list }

    func append(to query: inout QueryParameters, name: String) {
        var items = QueryParameters()
        list.append(to: &items, name: name)
        guard !items.isEmpty else { return }
        if let refused = items.first(where: { $0.refusal != nil }) { return query.append(refused) }
        let values = items.map { item in
            let raw = item.original?.cut(at: "=").map { String($0.tail) }
            return raw ?? PercentEncoding.escape(item.value ?? "", .unreserved)
        }
        let name = PercentEncoding.escape(name, .unreserved)
        query.append(QueryParameters.Item(original: "\(name)=\(values.joined(separator: ","))"))
    }
}

struct QueryFlag: QueryValue, Hashable {
    func append(to query: inout QueryParameters, name: String) { query.append(name, nil) }
}

extension String: QueryValue {
    public func append(to query: inout QueryParameters, name: String) { query.append(name, self) }
}

extension Substring: QueryValue {
    public func append(to query: inout QueryParameters, name: String) { query.append(name, String(self)) }
}

extension Bool: QueryValue {
    public func append(to query: inout QueryParameters, name: String) { query.append(name, self ? "true" : "false") }
}

extension QueryValue where Self: BinaryInteger {
    public func append(to query: inout QueryParameters, name: String) { query.append(name, description) }
}

extension QueryValue where Self: BinaryFloatingPoint & LosslessStringConvertible {
    /// Appends the shortest decimal text that parses as the same number.
    public func append(to query: inout QueryParameters, name: String) { query.append(name, String(self)) }
}

extension QueryValue where Self: RawRepresentable, RawValue: QueryValue {
    public func append(to query: inout QueryParameters, name: String) { rawValue.append(to: &query, name: name) }
}

extension Int: QueryValue {}
extension Int32: QueryValue {}
extension Int64: QueryValue {}
extension UInt: QueryValue {}
extension UInt32: QueryValue {}
extension UInt64: QueryValue {}
extension Float: QueryValue {}
extension Double: QueryValue {}

extension UUID: QueryValue {
    /// Appends the UUID string, in upper case.
    public func append(to query: inout QueryParameters, name: String) { query.append(name, uuidString) }
}

extension Date: QueryValue {
    /// Appends the time in UTC as ISO 8601: `2026-01-31T08:00:00Z`. A request with a date outside the years 0...9999
    /// fails before anything is sent.
    public func append(to query: inout QueryParameters, name: String) {
        if let internetTime { return query.append(name, internetTime) }
        query.append(QueryParameters.Item(name, refused: "the date is outside the years 0 to 9999"))
    }
}

extension Array: QueryValue where Element: QueryValue {
    /// Appends every element under the same name: `tag=a&tag=b`.
    public func append(to query: inout QueryParameters, name: String) {
        for element in self { element.append(to: &query, name: name) }
    }
}

extension Array: QueryElements where Element: QueryValue {
    var elements: (any QueryValue)? { self }
}

extension Optional: QueryValue where Wrapped: QueryValue {
    /// Appends the value, or nothing for nil.
    public func append(to query: inout QueryParameters, name: String) {
        self?.append(to: &query, name: name)
    }
}

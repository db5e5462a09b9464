// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// A request query: names and values in order (RFC 3986, 3.4).
///
/// ```swift
/// ["per_page": 2, "tag": ["a", "b"], "filter": String?.none, "verbose": QueryParameters.flag]
/// // per_page=2&tag=a&tag=b&verbose
/// ```
///
/// Write it as a literal, and don't escape anything: names and values are escaped once, when the request is sent.
/// Several items may have the same name, and names are case-sensitive.
///
/// In a literal:
/// - A value of nil is omitted.
/// - An empty string is written as `name=`.
/// - A ``flag`` is written as the name alone.
/// - Everything except letters, digits and `-._~` is escaped: `+` becomes `%2B`, and a space becomes `%20`.
///
/// A query that comes from a URL keeps its bytes, including its escapes.
public struct QueryParameters: Hashable, Sendable {
    private(set) var items: [Item] = []
    /// All names once many items are searched, otherwise empty.
    private var names: Set<[UInt8]> = []

    /// One `name=value`, or a ``QueryParameters/flag``, which is a name alone.
    public struct Item: Hashable, Sendable {
        /// The name, unescaped.
        public let name: String
        /// The value, unescaped, or nil for a flag, which has no `=`.
        public let value: String?
        /// The bytes that the item had in a URL, if they differ from the escaped name and value.
        let original: String?
        /// Why the item can't be written and the request therefore fails. Usually nil.
        let refusal: String?
        /// Whether descriptions, errors and logs redact the value even if the name isn't a secret one.
        public let isSecret: Bool

        /// Creates an item from an unescaped name and value. A value of nil creates a flag.
        ///
        /// If `isSecret` is true, the value is always redacted. Default: false (the name decides).
        public init(_ name: String, _ value: String?, isSecret: Bool = false) {
            self.name = name
            self.value = value
            self.isSecret = isSecret
            (original, refusal) = (nil, nil)
        }

        /// Creates a substitute for a value that a query can't contain. A request with it fails.
        init(_ name: String, refused rule: String) {
            self.name = name
            (value, original, refusal) = (nil, nil, rule)
            isSecret = false
        }

        /// Compares how the items are written, but not ``isSecret``.
        public static func == (first: Item, second: Item) -> Bool {
            first.name.isSame(as: second.name) && first.value.bytes == second.value.bytes
                && first.original.bytes == second.original.bytes && first.refusal == second.refusal
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(bytesOf: name)
            hasher.combine(value.bytes)
        }

        init(original text: Substring) {
            let pair = text.cut(at: "=")
            name = PercentEncoding.unescape(pair?.head ?? text)
            value = pair.map { PercentEncoding.unescape($0.tail) }
            let written = Self(name, value).escaped
            original = written.isSame(as: text) ? nil : String(text)
            refusal = nil
            isSecret = false
        }
    }

    /// Creates a query without items.
    public init() {}

    /// Creates a query from items. It keeps their order, and items with the same name.
    public init(_ items: some Sequence<Item>) { self.items = Array(items) }

    /// Creates items from `URLComponents`, in order. An item without a value is a flag.
    public init(_ items: [URLQueryItem]) { self.items = items.map { Item($0.name, $0.value) } }

    /// Creates items from an escaped query, the text after the `?` in a URL. Its bytes are kept unchanged.
    ///
    /// `%XX` is decoded as a byte. A `+` is a plus sign, as in RFC 3986. An empty text has no items.
    public init(escaped text: String) {
        self.init()
        if !text.isEmpty { self.init(ofURL: text) }
    }

    /// Creates items from the text after the `?` in a URL. A URL that ends with `?` keeps it, as an item without a
    /// name.
    init(ofURL text: String) {
        items = text.split(at: "&", omittingEmpty: false).map { Item(original: $0) }
    }

    /// The first value with a name, or nil if the name is missing or a flag.
    ///
    /// Set a value to replace all items with the name by a single one, at the position of the first. Set nil to remove
    /// them.
    public subscript(name: String) -> String? {
        get { items.first { $0.name.isSame(as: name) }?.value }
        set {
            if has(name) { return replace(name, with: newValue.map { Item(name, $0) }) }
            if let newValue { append(name, newValue) }
        }
    }

    /// Returns whether an item has the name, in constant time if there are many items.
    private mutating func has(_ name: String) -> Bool {
        guard items.count > 16 else { return contains(name) }
        if names.isEmpty { names = Set(items.lazy.map { Array($0.name.utf8) }) }
        return names.contains(Array(name.utf8))
    }

    /// Replaces all items with a name by a single one, at the position of the first. Nil only removes them.
    mutating func replace(_ name: String, with item: Item?) {
        items.replace(with: item) { $0.name.isSame(as: name) }
        if item == nil { names = [] }
    }

    /// Replaces all items with a name by a single one. All descriptions redact its value.
    public mutating func setSecret(_ value: String, for name: String) {
        let item = Item(name, value, isSecret: true)
        if has(name) { replace(name, with: item) } else { append(item) }
    }

    /// Returns all values with a name in order, with nil for each flag.
    public func values(for name: String) -> [String?] { items.filter { $0.name.isSame(as: name) }.map(\.value) }

    /// Returns whether an item has the name, including flags.
    public func contains(_ name: String) -> Bool { items.contains { $0.name.isSame(as: name) } }

    /// Appends an item. A value of nil creates a flag.
    public mutating func append(_ name: String, _ value: String?) { append(Item(name, value)) }

    /// Appends an item, and keeps items with the same name.
    public mutating func append(_ item: Item) {
        if !names.isEmpty { names.insert(Array(item.name.utf8)) }
        items.append(item)
    }

    /// Appends the items of `other` with names that are missing here.
    public mutating func fill(from other: QueryParameters) {
        guard !items.isEmpty else { return items = other.items }
        for item in other.items.filter({ !has($0.name) }) { append(item) }
    }

    /// Replaces items by the items of `other` with the same name, and appends its other items.
    public mutating func replace(with other: QueryParameters) {
        var other = other
        items.removeAll { other.has($0.name) }
        items += other.items
        names = []
    }

    /// Removes all items with a name, and appends the items for a value. A value of nil only removes them.
    public mutating func set(_ name: String, to value: (any QueryValue)?) {
        if has(name) { replace(name, with: nil) }
        value?.append(to: &self, name: name)
    }
}

extension QueryParameters {
    public static func == (first: QueryParameters, second: QueryParameters) -> Bool { first.items == second.items }

    public func hash(into hasher: inout Hasher) { hasher.combine(items) }
}

extension QueryParameters: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { items.count }
    public subscript(position: Int) -> Item { items[position] }
}

extension QueryParameters: ExpressibleByDictionaryLiteral {
    /// Creates items in order. Several items may have the same name, and values of nil are omitted.
    public init(dictionaryLiteral elements: (String, (any QueryValue)?)...) {
        items = []
        items.reserveCapacity(elements.count)
        // The elements are moved out of the array from the end, because only its last element can be moved. Copying an
        // existential and destroying the original later would take most of the time. Swapping in the memory of the
        // array keeps each element once.
        var elements = elements
        unsafe elements.withUnsafeMutableBufferPointer { unsafe $0.reverse() }
        while !elements.isEmpty {
            guard case (let name, let value?) = elements.removeLast() else { continue }
            value.append(to: &self, name: name)
        }
    }
}

extension QueryParameters.Item: CustomStringConvertible, CustomReflectable {
    /// The escaped item. Secret values are redacted.
    public var description: String { Redaction.standard.text(of: QueryParameters(CollectionOfOne(self))) }
    public var customMirror: Mirror { Mirror(describing: self) }
}

extension QueryParameters: CustomStringConvertible, CustomReflectable {
    /// The escaped query. Secret values are redacted.
    public var description: String { Redaction.standard.text(of: self) }
    public var customMirror: Mirror { Mirror(describing: self, as: .collection) }
}

extension QueryParameters {
    /// The escaped query, without the `?`.
    public var escaped: String {
        ByteText.text(atMost: escapedCapacity) { write(to: &$0) }
    }

    var escapedCapacity: Int {
        var capacity = 0
        for place in items.indices { capacity += 1 + items[place].escapedCapacity }
        return capacity
    }

    func write(to text: inout ByteText) {
        let set = EscapeSet.unreserved
        for place in items.indices {
            if place > 0 { text.append("&" as Unicode.Scalar) }
            // Accessed by index, because copying an item costs as much as writing its text.
            if let original = items[place].original {
                text.append(original)
                continue
            }
            text.append(items[place].name, escaping: set)
            guard let value = items[place].value else { continue }
            text.append("=" as Unicode.Scalar)
            text.append(value, escaping: set)
        }
    }
}

extension QueryParameters.Item {
    var escaped: String {
        if let original { return original }
        return ByteText.text(atMost: escapedCapacity) { text in
            text.append(name, escaping: .unreserved)
            guard let value else { return }
            text.append("=" as Unicode.Scalar)
            text.append(value, escaping: .unreserved)
        }
    }

    var escapedCapacity: Int {
        original?.utf8.count ?? 3 * (name.utf8.count + (value?.utf8.count ?? 0)) + 1
    }
}

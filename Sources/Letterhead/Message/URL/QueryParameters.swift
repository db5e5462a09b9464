/// The query of a request: names and values in order, repeats allowed (RFC 3986, 3.4).
///
/// ```swift
/// ["per_page": 2, "tag": ["a", "b"], "filter": String?.none, "verbose": QueryParameters.flag]
/// // per_page=2&tag=a&tag=b&verbose
/// ```
///
/// nil is left out, `""` is `name=`, a ``flag`` is the name alone. Values are written as they are and escaped once,
/// on the way out, everything but letters, digits and `-._~`: a `+` goes out as `%2B`, a blank as `%20`. Names are
/// case-sensitive. The query of a URL keeps its bytes: what was escaped in it stays so.
public struct QueryParameters: Hashable, Sendable {
    private(set) var items: [Item]

    /// One name and what stands behind its `=`.
    public struct Item: Hashable, Sendable {
        /// The name, unescaped.
        public let name: String
        /// The value, unescaped; nil for a flag, which has no `=`.
        public let value: String?
        /// The bytes that it had in a URL, where they differ from those that name and value would be written as.
        let original: String?
        /// Why the item cannot be written, so that a request with it is refused; nil when it can be.
        let refusal: String?
        /// Whether no text shows the value, whatever its name is.
        public let isSecret: Bool

        /// An item of an unescaped name and value.
        ///
        /// - Parameters:
        ///   - name: the name.
        ///   - value: the value; nil for a flag.
        ///   - isSecret: whether no text shows the value. Default: as the name says.
        public init(_ name: String, _ value: String?, isSecret: Bool = false) {
            self.name = name
            self.value = value
            self.isSecret = isSecret
            (original, refusal) = (nil, nil)
        }

        /// In place of a value that has no form in a query: a request with it is refused.
        init(_ name: String, refused rule: String) {
            self.name = name
            (value, original, refusal) = (nil, nil, rule)
            isSecret = false
        }

        /// Whether both are written the same; what a text shows of them does not count.
        public static func == (first: Item, second: Item) -> Bool {
            first.name == second.name && first.value == second.value && first.original == second.original
                && first.refusal == second.refusal
        }

        /// Hashes name and value.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(value)
        }

        init(original text: Substring) {
            let end = text.utf8.firstIndex(of: UInt8(ascii: "=")) ?? text.endIndex
            name = PercentEncoding.unescape(text[..<end])
            value = end == text.endIndex ? nil : PercentEncoding.unescape(text[text.utf8.index(after: end)...])
            let written = Self(name, value).escaped
            original = written.utf8.elementsEqual(text.utf8) ? nil : String(text)
            refusal = nil
            isSecret = false
        }
    }

    /// No parameters.
    public init() { items = [] }

    /// The given items, in order.
    public init(_ items: some Sequence<Item>) { self.items = Array(items) }

    /// The items of an escaped query, as it stands behind the `?` of a URL; its bytes are kept.
    ///
    /// `%XX` is read as a byte; a `+` is a plus, as RFC 3986 has it.
    public init(escaped text: String) {
        items = text.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
            .map { Item(original: Substring($0)) }
    }

    /// The first value of a name; nil when there is none, or when it is a flag.
    ///
    /// Setting replaces all values of the name by one, at the place of the first; nil removes them.
    public subscript(name: String) -> String? {
        get { items.first { $0.name == name }?.value }
        set { items.replace(with: newValue.map { Item(name, $0) }) { $0.name == name } }
    }

    /// Replaces all values of a name by one that no text shows, of this query, of the item alone, or of the request.
    public mutating func setSecret(_ value: String, for name: String) {
        items.replace(with: Item(name, value, isSecret: true)) { $0.name == name }
    }

    /// All values of a name, in order; nil for each flag.
    public func values(for name: String) -> [String?] { items.filter { $0.name == name }.map(\.value) }

    /// Whether there is an item of that name.
    public func contains(_ name: String) -> Bool { items.contains { $0.name == name } }

    /// Adds one item at the end; a nil value makes a flag.
    public mutating func append(_ name: String, _ value: String?) { items.append(Item(name, value)) }

    /// Adds one item at the end.
    public mutating func append(_ item: Item) { items.append(item) }

    /// Adds the items whose names are not here yet, all values of each.
    public mutating func fill(from other: QueryParameters) {
        guard !items.isEmpty else { return items = other.items }
        let names = names(for: other.items.count)
        items += other.items.filter { !(names?.contains($0.name) ?? contains($0.name)) }
    }

    /// Replaces, for each name in `other`, all values here by those there.
    public mutating func replace(with other: QueryParameters) {
        let names = other.names(for: items.count)
        items.removeAll { names?.contains($0.name) ?? other.contains($0.name) }
        items += other.items
    }

    /// The names, where they are looked up so often that a set costs less than to compare each with each.
    private func names(for count: Int) -> Set<String>? {
        items.count > 16 && count > 16 ? Set(items.lazy.map(\.name)) : nil
    }

    /// Replaces all values of a name by those of a value, at the end; nil removes them.
    public mutating func set(_ name: String, to value: (any QueryValue)?) {
        items.removeAll { $0.name == name }
        value?.append(to: &self, name: name)
    }
}

extension QueryParameters: RandomAccessCollection {
    /// The first item's position.
    public var startIndex: Int { 0 }
    /// The position behind the last item.
    public var endIndex: Int { items.count }
    /// The item at a position.
    public subscript(position: Int) -> Item { items[position] }
}

extension QueryParameters: ExpressibleByDictionaryLiteral {
    /// Items in the order written, repeats included, nil left out.
    public init(dictionaryLiteral elements: (String, (any QueryValue)?)...) {
        items = []
        items.reserveCapacity(elements.count)
        // Each element is moved out of the array, which only the last one can be: a copy of an existential costs more than
        // all the rest, and so does it to destroy what a copy leaves behind.
        var elements = elements
        elements.withUnsafeMutableBufferPointer { $0.reverse() }
        while !elements.isEmpty {
            guard case (let name, let value?) = elements.removeLast() else { continue }
            value.append(to: &self, name: name)
        }
    }
}

extension QueryParameters.Item: CustomStringConvertible, CustomReflectable {
    /// The escaped item, with the value of a secret name redacted.
    public var description: String { Redaction.standard.text(of: QueryParameters(CollectionOfOne(self))) }
    /// The redacted item only, so that no dump prints a secret.
    public var customMirror: Mirror { Mirror(describing: self) }
}

extension QueryParameters: CustomStringConvertible, CustomReflectable {
    /// The escaped query, with the values of secret names redacted.
    public var description: String { Redaction.standard.text(of: self) }
    /// The redacted query only, so that no dump prints a secret.
    public var customMirror: Mirror { Mirror(describing: self, as: .collection) }
}

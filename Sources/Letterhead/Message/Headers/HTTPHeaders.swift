/// The header fields of a message, in order (RFC 9110, 5).
///
/// Names ignore case and keep their spelling, a name may stand several times, and the order is the order on the wire.
///
/// ```swift
/// var headers: HTTPHeaders = ["Accept": "application/json"]
/// headers["accept"]                      // "application/json"
/// headers.append("Accept", "text/plain") // two fields
/// headers.values(for: "Accept")          // both, in order
/// headers["Accept"] = nil                // none
/// ```
///
/// Blanks at the ends of a value are no part of it (RFC 9110, 5.5) and are removed where it enters. A name that is not a
/// token, or a value with CR, LF, NUL or another control character, is refused before anything is sent.
public struct HTTPHeaders: Hashable, Sendable {
    private(set) var fields: [Field]

    /// One header field.
    public struct Field: Hashable, Sendable {
        /// Which field it is.
        public let name: Name
        /// What it says.
        public let value: String
        /// Whether no text shows the value, whatever its name is.
        public let isSecret: Bool

        /// A field; blanks at the ends of the value are removed.
        ///
        /// - Parameters:
        ///   - name: what it is about.
        ///   - value: what it says.
        ///   - isSecret: whether no text shows the value. Default: as the name says.
        public init(_ name: Name, _ value: String, isSecret: Bool = false) {
            self.name = name
            self.value = ASCII.trimmed(value)
            self.isSecret = isSecret
        }

        /// A field whose value has no blanks at its ends.
        init(_ name: Name, trimmed value: String) {
            self.name = name
            self.value = value
            isSecret = false
        }

        /// Whether name and value are the same; what a text shows of them does not count.
        public static func == (first: Field, second: Field) -> Bool {
            first.name == second.name && first.value == second.value
        }

        /// Hashes name and value.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(value)
        }
    }

    /// No fields.
    public init() { fields = [] }

    /// The given fields, in order, repeats included.
    public init(_ fields: some Sequence<Field>) { self.fields = Array(fields) }

    /// The fields of a dictionary, sorted by name so that equal dictionaries make equal headers.
    public init(_ dictionary: [String: String]) {
        fields = dictionary.sorted { $0.key < $1.key }.map { Field(Name($0.key), $0.value) }
    }

    /// The value of a name: nil when there is none; several joined by `, `, as RFC 9110, 5.2 joins them, those of
    /// `Cookie` by `; ` (RFC 9113, 8.2.3); but of `Set-Cookie`, whose values cannot be joined, only the first.
    ///
    /// Setting replaces all values of the name by one, at the place of the first; nil removes them.
    public subscript(name: Name) -> String? {
        get {
            guard let first = fields.firstIndex(where: { $0.name == name }) else { return nil }
            let value = fields[first].value
            guard name != .setCookie, fields[(first + 1)...].contains(where: { $0.name == name }) else { return value }
            return values(for: name).joined(separator: name == .cookie ? "; " : ", ")
        }
        set { fields.replace(with: newValue.map { Field(name, $0) }) { $0.name == name } }
    }

    /// Replaces all values of a name by one that no text shows, of these headers, of the field alone, or of the message.
    public mutating func setSecret(_ value: String, for name: Name) {
        fields.replace(with: Field(name, value, isSecret: true)) { $0.name == name }
    }

    /// All values of a name, in order.
    public func values(for name: Name) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// Whether there is a field of that name.
    public func contains(_ name: Name) -> Bool { fields.contains { $0.name == name } }

    /// Adds a field at the end, beside those of the same name.
    public mutating func append(_ name: Name, _ value: String) { fields.append(Field(name, value)) }

    /// Adds the fields whose names are not here yet, all values of each.
    public mutating func fill(from other: HTTPHeaders) {
        guard !fields.isEmpty else { return fields = other.fields }
        let names = names(for: other.fields.count)
        fields += other.fields.filter { !(names?.contains($0.name) ?? contains($0.name)) }
    }

    /// Replaces, for each name in `other`, all values here by those there.
    public mutating func replace(with other: HTTPHeaders) {
        guard !other.fields.isEmpty else { return }
        let names = other.names(for: fields.count)
        fields.removeAll { names?.contains($0.name) ?? other.contains($0.name) }
        fields += other.fields
    }

    /// The names, where they are looked up so often that a set costs less than to compare each with each.
    private func names(for count: Int) -> Set<Name>? {
        fields.count > 16 && count > 16 ? Set(fields.lazy.map(\.name)) : nil
    }
}

extension HTTPHeaders: RandomAccessCollection {
    /// The first field's position.
    public var startIndex: Int { 0 }
    /// The position behind the last field.
    public var endIndex: Int { fields.count }
    /// The field at a position.
    public subscript(position: Int) -> Field { fields[position] }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// Fields in the order written, repeats included.
    public init(dictionaryLiteral elements: (Name, String)...) {
        fields = []
        fields.reserveCapacity(elements.count)
        // Each element is moved out of the array, which only the last one can be, so that none is left to be destroyed.
        var elements = elements
        elements.withUnsafeMutableBufferPointer { $0.reverse() }
        while let (name, value) = elements.popLast() { fields.append(Field(name, value)) }
    }
}

extension HTTPHeaders: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A line a field, with the values of secret fields redacted.
    public var description: String { Redaction.standard.text(of: self) }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Redacted lines only, so that no dump prints a secret.
    public var customMirror: Mirror { Mirror(describing: self, as: .collection) }
}

extension HTTPHeaders.Field: CustomStringConvertible, CustomReflectable {
    /// `Name: value`, with the value of a secret field redacted.
    public var description: String { Redaction.standard.text(of: self) }
    /// The redacted line only, so that no dump prints a secret.
    public var customMirror: Mirror { Mirror(describing: self) }
}

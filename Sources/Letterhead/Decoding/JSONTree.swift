import Foundation
import Synchronization

/// The parsed document from which each `JSONValue` inside another type is taken.
///
/// With `JSONDecoder`, the kind of a value can be found only by attempts to decode it as each kind. Each failed attempt
/// costs time in proportion to the length of the coding path. The document is parsed when the first `JSONValue` is
/// decoded, so that other types have no additional cost.
///
/// A subclass of `JSONDecoder` may decode other data than it receives, and JSON5 has its own syntax. In both cases, the
/// document only predicts the kind of each value, and the decoder decodes the value itself.
///
/// This type is a class because all values of a document share the result of the parser.
final class JSONTree: Sendable {
    /// The document that this task is decoding.
    @TaskLocal static var current: JSONTree?

    private struct State {
        /// The decoder of the document. It is the same object for every value in the document; another object reads
        /// another document.
        var decoder: ObjectIdentifier?
        var levels: JSONLevels?
    }

    private let data: Data
    private let strategy: JSONDecoder.KeyDecodingStrategy
    /// Whether the values of the document are the values that the decoder would decode. If not, only the kinds of the
    /// values are used, which are the same with high probability.
    let isExact: Bool
    private let isObject: Bool
    private let state = Mutex(State())

    private init(_ data: Data, _ decoder: JSONDecoder, isExact: Bool) {
        (self.data, self.isExact) = (data, isExact)
        (strategy, isObject) = (decoder.keyDecodingStrategy, decoder.assumesTopLevelDictionary)
    }

    /// Decodes a type that may contain `JSONValue`s.
    ///
    /// - Parameter isExact: whether the decoder is known to decode this data as JSON.
    static func decode<Value: Decodable>(
        _ type: Value.Type, from data: Data, with decoder: JSONDecoder, isExact: Bool
    ) throws -> Value {
        try $current.withValue(JSONTree(data, decoder, isExact: isExact)) {
            try decoder.decode(Root<Value>.self, from: data).value
        }
    }

    /// A value that captures the decoder of the document.
    private struct Root<Value: Decodable>: Decodable {
        let value: Value

        init(from decoder: any Decoder) throws {
            JSONTree.current?.state.withLock { $0.decoder = ObjectIdentifier(decoder as AnyObject) }
            value = try decoder.singleValueContainer().decode(Value.self)
        }
    }

    private func document() throws -> JSONValue {
        // Without a known structure, each value is decoded by attempts.
        isExact ? try JSONText.value(of: data, isPartial: true) : JSONShape.value(of: data, isObject: isObject) ?? .null
    }

    /// Returns the value at the position of a decoder. Returns nil if the decoder reads another document. Also returns
    /// nil if the document has no value at this position, for example because the decoder converts names in a way that
    /// is not known.
    ///
    /// - Throws: `DecodingError.dataCorrupted` for a document that is not JSON, and for a value that is nested too
    ///   deeply.
    func value(for decoder: any Decoder) throws -> JSONValue? {
        guard state.withLock({ $0.decoder }) == ObjectIdentifier(decoder as AnyObject) else { return nil }
        // The value is looked up outside of the lock, because the lookup calls the caller's key strategy.
        let kept = state.withLock { $0.levels.take() }
        var levels = try kept ?? JSONLevels(document(), strategy)
        defer { state.withLock { [levels] in $0.levels = levels } }
        guard let value = levels.value(at: decoder.codingPath) else { return nil }
        guard isExact, levels.hasSkipped, let rule = value.skipped else { return value }
        throw DecodingError.dataCorrupted(
            .init(codingPath: decoder.codingPath, debugDescription: rule, underlyingError: InvalidDocument(rule)))
    }
}

/// The values from the root of a document to the last requested one. The next requested value is usually close to it.
private struct JSONLevels {
    private struct Level {
        let value: JSONValue
        /// The names in the document, keyed by the names to which the decoder converts them.
        var names: [String: String]?
        /// The key of the level; nil for the root.
        var key: (any CodingKey)?
    }

    private let strategy: JSONDecoder.KeyDecodingStrategy
    private var levels: [Level]
    /// Whether the document contains skipped values.
    let hasSkipped: Bool

    init(_ root: JSONValue, _ strategy: JSONDecoder.KeyDecodingStrategy) {
        levels = [Level(value: root)]
        hasSkipped = root.skipped != nil
        self.strategy = strategy
    }

    /// Returns the value at the end of a path, or nil.
    mutating func value(at path: [any CodingKey]) -> JSONValue? {
        var shared = 0
        while shared < path.count, shared + 1 < levels.count, isSame(levels[shared + 1].key, path[shared]) {
            shared += 1
        }
        levels.removeSubrange((shared + 1)...)
        for index in shared..<path.count {
            guard let value = child(at: path[index], on: path[..<index]) else { return nil }
            levels.append(Level(value: value, key: path[index]))
        }
        return levels.last?.value
    }

    private func isSame(_ left: (any CodingKey)?, _ right: any CodingKey) -> Bool {
        left?.intValue == right.intValue && left?.stringValue == right.stringValue
    }

    private mutating func child(at key: any CodingKey, on path: ArraySlice<any CodingKey>) -> JSONValue? {
        switch levels[levels.count - 1].value {
        case .array(let elements):
            guard let index = key.intValue, elements.indices.contains(index) else { return nil }
            return elements[index]
        case .object(let members):
            // With the default strategy, keys are the names in the document.
            if case .useDefaultKeys = strategy { return members[key.stringValue] }
            return name(for: key.stringValue, in: members, on: path).flatMap { members[$0] }
        default: return nil
        }
    }

    private mutating func name(
        for key: String, in members: [String: JSONValue], on path: ArraySlice<any CodingKey>
    ) -> String? {
        let level = levels.count - 1
        if levels[level].names == nil {
            // If several names are converted to the same name, Foundation does not define which one is used.
            let pairs = members.keys.map { (strategy.convert($0, on: path), $0) }
            levels[level].names = Dictionary(pairs) { min($0, $1) }
        }
        return levels[level].names?[key] ?? (members[key] == nil ? nil : key)
    }
}

extension JSONDecoder.KeyDecodingStrategy {
    /// Returns the name that the decoder uses for a name in the document.
    fileprivate func convert(_ name: String, on path: ArraySlice<any CodingKey>) -> String {
        switch self {
        case .convertFromSnakeCase: Self.camelCase(name)
        case .custom(let convert): convert(path + [Name(stringValue: name)]).stringValue
        default: name
        }
    }

    private static func camelCase(_ name: String) -> String {
        let words = name.split(separator: "_")
        guard let first = words.first, words.count > 1 else { return name }
        let leading = name.prefix { $0 == "_" }
        let trailing = name.reversed().prefix { $0 == "_" }
        return leading + first.lowercased() + words.dropFirst().map(\.capitalized).joined() + String(trailing)
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

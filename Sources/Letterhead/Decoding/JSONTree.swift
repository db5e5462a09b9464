import Foundation
import Synchronization

/// The one parse of a document that is being decoded, from which each `JSONValue` inside another type is taken.
///
/// `JSONDecoder` can tell the kind of a value only by failing to decode the other kinds, and each failure costs the length
/// of the coding path. The document is parsed when the first `JSONValue` is met, so that other types cost nothing more.
///
/// A class, because the decodings of all values in a document share the parse.
final class JSONTree: Sendable {
    /// The document that this task decodes.
    @TaskLocal static var current: JSONTree?

    private struct State {
        /// The decoder of the document, which is the same object for every value in it. Another decoder that runs meanwhile
        /// reads another document.
        var decoder: ObjectIdentifier?
        var levels: JSONLevels?
    }

    private let data: Data
    private let strategy: JSONDecoder.KeyDecodingStrategy
    private let state = Mutex(State())

    private init(_ data: Data, _ strategy: JSONDecoder.KeyDecodingStrategy) {
        (self.data, self.strategy) = (data, strategy)
    }

    /// Decodes a type in which there may be values of unknown shape.
    static func decode<Value: Decodable>(
        _ type: Value.Type, from data: Data, with decoder: JSONDecoder
    ) throws -> Value {
        try $current.withValue(JSONTree(data, decoder.keyDecodingStrategy)) {
            try decoder.decode(Root<Value>.self, from: data).value
        }
    }

    /// Learns which decoder reads the document.
    private struct Root<Value: Decodable>: Decodable {
        let value: Value

        init(from decoder: any Decoder) throws {
            JSONTree.current?.state.withLock { $0.decoder = ObjectIdentifier(decoder as AnyObject) }
            value = try decoder.singleValueContainer().decode(Value.self)
        }
    }

    /// The value that a decoder is at; nil when it reads another document, or calls a name by another.
    ///
    /// - Throws: `DecodingError.dataCorrupted` for a document that is not JSON, and a value that is nested too deep.
    func value(for decoder: any Decoder) throws -> JSONValue? {
        guard state.withLock({ $0.decoder }) == ObjectIdentifier(decoder as AnyObject) else { return nil }
        // Outside the lock, because a key strategy of the caller is called.
        let kept = state.withLock { $0.levels.take() }
        var levels = try kept ?? JSONLevels(JSONText.value(of: data, isPartial: true), strategy)
        defer { state.withLock { [levels] in $0.levels = levels } }
        guard let value = levels.value(at: decoder.codingPath) else { return nil }
        guard levels.hasSkipped, let rule = value.skipped else { return value }
        throw DecodingError.dataCorrupted(
            .init(codingPath: decoder.codingPath, debugDescription: rule, underlyingError: InvalidDocument(rule)))
    }
}

/// The values on the way from the root of a document to the one that was asked for last. The next one is near.
private struct JSONLevels {
    private struct Level {
        let value: JSONValue
        /// The names of the object as the decoder converts them, for each the name in the document.
        var names: [String: String]?
        /// The step that leads to it; nil for the root.
        var key: (any CodingKey)?
    }

    private let strategy: JSONDecoder.KeyDecodingStrategy
    private var levels: [Level]
    /// Whether there are values that were skipped.
    let hasSkipped: Bool

    init(_ root: JSONValue, _ strategy: JSONDecoder.KeyDecodingStrategy) {
        levels = [Level(value: root)]
        hasSkipped = root.skipped != nil
        self.strategy = strategy
    }

    /// The value at the end of a path; nil when there is none.
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
            // The names of a dictionary and of a type without a strategy are those of the document.
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
            // If several names become the same, Foundation does not define which one counts.
            let pairs = members.keys.map { (strategy.convert($0, on: path), $0) }
            levels[level].names = Dictionary(pairs) { min($0, $1) }
        }
        return levels[level].names?[key] ?? (members[key] == nil ? nil : key)
    }
}

extension JSONDecoder.KeyDecodingStrategy {
    /// The name that the decoder uses for a name in the document.
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

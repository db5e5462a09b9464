// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// The items of a form whose values are all strings.
struct FormPairs: Sendable {
    private let items: [URLQueryItem]
    private let set: EscapeSet

    init(_ items: [URLQueryItem], _ style: FormEncoder) {
        self.items = items
        set = style.escapeSet
    }

    var isEmpty: Bool { items.isEmpty }

    /// The number of bytes of the form.
    var length: Int {
        items.reduce(max(0, 2 * items.count - 1)) { $0 + length(of: $1.name) + length(of: $1.value ?? "") }
    }

    var data: Data {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(length)
        for item in items {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            bytes.append(item.name, set)
            bytes.append(UInt8(ascii: "="))
            if let value = item.value { bytes.append(value, set) }
        }
        return Data(bytes)
    }

    private func length(of text: String) -> Int {
        var text = text
        return text.withUTF8 { $0.count + 2 * PercentEncoding.count($0, set) }
    }
}

/// The path of a value, linked from the innermost name to the outermost. Nested values share their outer path.
final class FormPath {
    enum Step {
        case key(any CodingKey)
        case index(Int)
    }

    let parent: FormPath?
    let step: Step

    init(_ parent: FormPath?, _ step: Step) {
        (self.parent, self.step) = (parent, step)
    }

    convenience init(_ parent: FormPath?, name: String) { self.init(parent, .key(FormKey(stringValue: name))) }

    var codingKey: any CodingKey {
        switch step {
        case .key(let key): key
        case .index(let index): FormKey(intValue: index)
        }
    }
}

extension FormPath? {
    /// The path for errors.
    var codingPath: [any CodingKey] {
        guard let self else { return [] }
        return self.parent.codingPath + [self.codingKey]
    }
}

struct FormKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
    init(intValue: Int) { (stringValue, self.intValue) = (String(intValue), intValue) }
}

extension [UInt8] {
    /// Appends a string, percent-encoded.
    fileprivate mutating func append(_ text: String, _ set: EscapeSet) {
        withUnsafeTemporaryAllocation(byteCount: 3 * text.utf8.count + 1, alignment: 8) { room in
            guard let start = room.baseAddress else { return }
            append(contentsOf: room[..<PercentEncoding.write(text, set, to: start)])
        }
    }
}

enum SnakeCase {
    /// Returns the words of a name in lower case, joined by underscores: `myURLProperty` becomes `my_url_property`.
    ///
    /// A word begins at an upper-case letter after a lower-case letter or a digit, and at the last of several
    /// upper-case letters before a lower-case letter, as in `JSONEncoder`.
    static func convert(_ name: String) -> String {
        let characters = Array(name)
        var result = ""
        for place in characters.indices {
            let character = characters[place]
            if place > 0, character.isUppercase, beginsWord(at: place, in: characters) { result += "_" }
            result += character.lowercased()
        }
        return result
    }

    private static func beginsWord(at place: Int, in characters: [Character]) -> Bool {
        let before = characters[place - 1]
        if before == "_" { return false }
        if !before.isUppercase { return true }
        return place + 1 < characters.count && characters[place + 1].isLowercase
    }
}

/// Writes one form: all containers of an encoding append to its buffer. A writer is used only within the call that
/// creates it.
final class FormWriter {
    let style: FormEncoder
    private let set: EscapeSet
    private var bytes: [UInt8] = []

    init(_ style: FormEncoder, escaping set: EscapeSet) {
        (self.style, self.set) = (style, set)
    }

    var data: Data { Data(bytes) }

    /// Writes an item whose name is derived from a path.
    func pair(_ path: FormPath, _ value: String) {
        separate()
        name(path)
        bytes.append(UInt8(ascii: "="))
        bytes.append(value, set)
    }

    /// Writes an item of a nested value without creating a path for it.
    func pair(_ parent: FormPath?, key: String, _ value: String) {
        separate()
        if let parent { name(parent) }
        name(key, isInside: parent != nil)
        bytes.append(UInt8(ascii: "="))
        bytes.append(value, set)
    }

    /// Writes a value: a scalar as an item, a dictionary sorted by key, and any other value with its own `encode(to:)`.
    func write<Value: Encodable>(_ value: Value, at path: FormPath?) throws {
        if let scalar = value as? any FormScalar {
            guard let path else { throw nameless(value) }
            pair(path, try scalar.text(style, at: path))
        } else if let dictionary = value as? any SortedForm {
            for (key, value) in dictionary.sorted { try write(value, at: FormPath(path, name: key)) }
        } else {
            try value.encode(to: FormValueEncoder(writer: self, path: path))
        }
    }

    /// Returns the error for a value at the top level that has no name.
    func nameless(_ value: Any?) -> EncodingError {
        let context = EncodingError.Context(
            codingPath: [], debugDescription: "A form needs names: encode a type with properties, or a dictionary.")
        return .invalidValue(value as Any, context)
    }

    private func separate() {
        if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
    }

    private func name(_ path: FormPath) {
        if let parent = path.parent { name(parent) }
        switch (path.step, style.arrays) {
        case (.key(let key), _): name(key.stringValue, isInside: path.parent != nil)
        case (.index, .repeated): break
        case (.index, .brackets): bytes.append("[]", set)
        case (.index(let index), .indexed): bytes.append("[\(index)]", set)
        }
    }

    private func name(_ key: String, isInside: Bool) {
        guard isInside else { return bytes.append(key, set) }
        bytes.append(style.nesting == .dots ? "." : "[", set)
        bytes.append(key, set)
        if style.nesting == .brackets { bytes.append("]", set) }
    }
}

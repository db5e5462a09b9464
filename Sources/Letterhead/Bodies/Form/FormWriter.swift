import Foundation

/// Writes one form. This type is a class because all containers of an encoding append to the same buffer. A writer is
/// used only within the call that creates it.
final class FormWriter {
    let style: FormEncoder
    private var bytes: FormBytes

    init(_ style: FormEncoder, escaping set: EscapeSet) {
        self.style = style
        bytes = FormBytes(set, capacity: 512)
    }

    /// The bytes that were written.
    var data: Data { bytes.data }

    /// Writes an item whose name is derived from a path.
    func pair(_ path: FormPath, _ value: String) {
        separate()
        name(path)
        bytes.append(byte: UInt8(ascii: "="))
        bytes.append(value)
    }

    /// Writes an item of a nested value without creating a path for it.
    func pair(_ parent: FormPath?, key: String, _ value: String) {
        separate()
        if let parent { name(parent) }
        name(key, isInside: parent != nil)
        bytes.append(byte: UInt8(ascii: "="))
        bytes.append(value)
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

    /// Writes a value that is nil.
    func writeNil(at path: FormPath?) throws {
        guard let path else { throw nameless(String?.none) }
        switch style.nils {
        case .omitted: break
        case .empty: pair(path, "")
        case .null: pair(path, "null")
        }
    }

    /// Returns the error for a value at the top level that has no name.
    func nameless(_ value: Any?) -> EncodingError {
        let context = EncodingError.Context(
            codingPath: [], debugDescription: "A form needs names: encode a type with properties, or a dictionary.")
        return .invalidValue(value as Any, context)
    }

    private func separate() {
        if !bytes.isEmpty { bytes.append(byte: UInt8(ascii: "&")) }
    }

    private func name(_ path: FormPath) {
        if let parent = path.parent { name(parent) }
        switch (path.step, style.arrays) {
        case (.key(let key), _): name(key.stringValue, isInside: path.parent != nil)
        case (.index, .repeated): break
        case (.index, .brackets): bytes.append("[]")
        case (.index(let index), .indexed): bytes.append("[\(index)]")
        }
    }

    private func name(_ key: String, isInside: Bool) {
        guard isInside else { return bytes.append(key) }
        bytes.append("[")
        bytes.append(key)
        bytes.append("]")
    }
}

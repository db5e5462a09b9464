import Foundation

/// Texts by name.
struct FormPairs: Sendable {
    private let items: [URLQueryItem]
    private let set: EscapeSet

    init(_ items: [URLQueryItem], _ style: FormEncoder) {
        self.items = items
        set = style.escapeSet
    }

    var isEmpty: Bool { items.isEmpty }

    /// How many bytes the form has.
    var length: Int {
        items.reduce(max(0, 2 * items.count - 1)) { $0 + length(of: $1.name) + length(of: $1.value ?? "") }
    }

    /// The form.
    var data: Data {
        var bytes = FormBytes(set, capacity: 64 * items.count + 64)
        for item in items {
            if !bytes.isEmpty { bytes.append(byte: UInt8(ascii: "&")) }
            bytes.append(item.name)
            bytes.append(byte: UInt8(ascii: "="))
            if let value = item.value { bytes.append(value) }
        }
        return bytes.data
    }

    private func length(of text: String) -> Int {
        var text = text
        return text.withUTF8 { $0.count + 2 * PercentEncoding.count($0, set) }
    }
}

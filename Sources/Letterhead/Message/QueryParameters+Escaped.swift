extension QueryParameters {
    /// The query as it goes on the wire, without the `?`.
    public var escaped: String {
        var text = ByteText(capacity: 32 * count)
        write(to: &text)
        return text.string
    }

    /// Appends the query as it goes on the wire.
    func write(to text: inout ByteText) {
        for index in indices {
            if index > 0 { text.append("&" as Unicode.Scalar) }
            self[index].write(to: &text)
        }
    }
}

extension QueryParameters.Item {
    /// The item as it goes on the wire.
    var escaped: String {
        var text = ByteText(capacity: 32)
        write(to: &text)
        return text.string
    }

    /// Appends the item as it goes on the wire.
    func write(to text: inout ByteText) {
        if let original { text.append(original) } else { Self.write(name, value, to: &text) }
    }

    static func write(_ name: String, _ value: String?, to text: inout ByteText) {
        text.append(name, escaping: .unreserved)
        guard let value else { return }
        text.append("=" as Unicode.Scalar)
        text.append(value, escaping: .unreserved)
    }
}

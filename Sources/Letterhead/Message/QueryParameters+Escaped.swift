extension QueryParameters {
    /// The query as it goes on the wire, without the `?`.
    public var escaped: String {
        ByteText.text(atMost: escapedCapacity) { write(to: &$0) }
    }

    /// How many bytes it has on the wire, at most.
    var escapedCapacity: Int {
        var capacity = 0
        for place in items.indices { capacity += 1 + items[place].escapedCapacity }
        return capacity
    }

    /// Appends the query as it goes on the wire.
    func write(to text: inout ByteText) {
        for place in items.indices {
            if place > 0 { text.append("&" as Unicode.Scalar) }
            items[place].write(to: &text)
        }
    }
}

extension QueryParameters.Item {
    /// The item as it goes on the wire.
    var escaped: String {
        ByteText.text(atMost: escapedCapacity) { write(to: &$0) }
    }

    /// How many bytes it has on the wire, at most.
    var escapedCapacity: Int {
        original?.utf8.count ?? Self.escapedCapacity(name, value)
    }

    static func escapedCapacity(_ name: String, _ value: String?) -> Int {
        3 * (name.utf8.count + (value?.utf8.count ?? 0)) + 1
    }

    /// Appends the item as it goes on the wire.
    @inline(__always)
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

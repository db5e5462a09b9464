extension QueryParameters {
    /// The escaped query, without the `?`.
    public var escaped: String {
        ByteText.text(atMost: escapedCapacity) { write(to: &$0) }
    }

    /// An upper bound for the number of bytes in the escaped query.
    var escapedCapacity: Int {
        var capacity = 0
        for place in items.indices { capacity += 1 + items[place].escapedCapacity }
        return capacity
    }

    /// Appends the escaped query.
    func write(to text: inout ByteText) {
        let set = EscapeSet.unreserved
        for place in items.indices {
            if place > 0 { text.append("&" as Unicode.Scalar) }
            // Items are accessed by index, because copying an item costs as much as writing its text.
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
    /// The escaped item.
    var escaped: String {
        if let original { return original }
        return ByteText.text(atMost: escapedCapacity) { text in
            text.append(name, escaping: .unreserved)
            guard let value else { return }
            text.append("=" as Unicode.Scalar)
            text.append(value, escaping: .unreserved)
        }
    }

    /// An upper bound for the number of bytes in the escaped item.
    var escapedCapacity: Int {
        original?.utf8.count ?? 3 * (name.utf8.count + (value?.utf8.count ?? 0)) + 1
    }
}

/// The values of a response, by type. The first has a place of its own: most responses have one, the transport's, and
/// no table then.
struct HTTPResponseValues: Sendable {
    private var firstKey: ObjectIdentifier?
    private var first: any Sendable = ()
    private var others: [ObjectIdentifier: any Sendable] = [:]

    subscript<Key: HTTPRequestOption>(_ key: Key.Type) -> Key.Value {
        get {
            let key = ObjectIdentifier(key)
            let stored = firstKey == key ? first : others[key]
            return (stored as? Stored<Key.Value>)?.value ?? Key.defaultOptionValue
        }
        set {
            let key = ObjectIdentifier(key)
            if firstKey == nil || firstKey == key {
                (firstKey, first) = (key, Stored(value: newValue))
            } else {
                others[key] = Stored(value: newValue)
            }
        }
    }

    /// The box keeps an explicit nil apart from nothing.
    private struct Stored<Value: Sendable>: Sendable {
        let value: Value
    }
}

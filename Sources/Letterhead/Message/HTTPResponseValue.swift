/// A typed value that travels with a response, as an ``HTTPRequestOption`` travels with a request.
///
/// Use: a validator or a loader that learns something hands it to the caller: `response[value: Envelope.self]`. Write
/// one: a type with a default. Law: the default never changes.
public protocol HTTPResponseValue {
    /// What is carried.
    associatedtype Value: Sendable

    /// What a response has on which nothing was set.
    static var defaultResponseValue: Value { get }
}

/// The values of a response, by type. The first has a place of its own: most responses have one, the transport's, and
/// no table then.
struct HTTPResponseValues: Sendable {
    private var firstKey: ObjectIdentifier?
    private var first: any Sendable = ()
    private var others: [ObjectIdentifier: any Sendable] = [:]

    subscript<Key: HTTPResponseValue>(_ key: Key.Type) -> Key.Value {
        get {
            let key = ObjectIdentifier(key)
            let stored = firstKey == key ? first : others[key]
            return (stored as? Stored<Key.Value>)?.value ?? Key.defaultResponseValue
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

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

/// The values of a response, by type; made when the first is set, so that a response without any costs nothing.
struct HTTPResponseValues: Sendable {
    private var values: [ObjectIdentifier: any Sendable] = [:]

    subscript<Key: HTTPResponseValue>(_ key: Key.Type) -> Key.Value {
        get { (values[ObjectIdentifier(key)] as? Stored<Key.Value>)?.value ?? Key.defaultResponseValue }
        set { values[ObjectIdentifier(key)] = Stored(value: newValue) }
    }

    /// The box keeps an explicit nil apart from nothing.
    private struct Stored<Value: Sendable>: Sendable {
        let value: Value
    }
}

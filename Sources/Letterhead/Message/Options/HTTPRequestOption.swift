/// A typed value that travels with a request or a response, and is never sent.
///
/// A request carries settings to the loaders that know them. A response carries what a loader or a validator learned to the
/// caller: `response[option: Envelope.self]`.
///
/// Use: read and write `request[option: Tenant.self]`. Write one: a type, usually an empty enumeration, with a default,
/// and a property for it:
///
/// ```swift
/// enum Tenant: HTTPRequestOption {
///     static let defaultOptionValue = "none"
/// }
///
/// extension HTTPRequest {
///     var tenant: String {
///         get { self[option: Tenant.self] }
///         set { self[option: Tenant.self] = newValue }
///     }
/// }
/// ```
///
/// Law: the default never changes. An option whose value is optional remembers an explicit nil.
public protocol HTTPRequestOption {
    /// What the option holds.
    associatedtype Value: Sendable

    /// What a request that says nothing has.
    static var defaultOptionValue: Value { get }
}

/// The options of a request or a template, by type.
public struct HTTPRequestOptions: Sendable {
    private struct Entry: Sendable {
        let option: ObjectIdentifier
        var value: any Sendable
    }

    /// A list, because there are few, and looking through them takes less time than one hash does.
    private var entries: [Entry] = []

    /// No option set: each has its default.
    public init() {}

    /// The value of an option, its default when it is not set.
    public subscript<Option: HTTPRequestOption>(_ option: Option.Type) -> Option.Value {
        get {
            guard let place = place(of: ObjectIdentifier(option)) else { return Option.defaultOptionValue }
            return (entries[place].value as? Stored<Option.Value>)?.value ?? Option.defaultOptionValue
        }
        set { set(ObjectIdentifier(option), to: Stored(value: newValue)) }
    }

    /// Whether an option was set, be it to its default or to nil.
    public func contains(_ option: (some HTTPRequestOption).Type) -> Bool {
        place(of: ObjectIdentifier(option)) != nil
    }

    /// Forgets an option, so that it has its default again.
    public mutating func remove(_ option: (some HTTPRequestOption).Type) {
        if let place = place(of: ObjectIdentifier(option)) { entries.remove(at: place) }
    }

    /// Takes over every option set in `other`, over those set here.
    public mutating func replace(with other: HTTPRequestOptions) {
        guard !entries.isEmpty else { return entries = other.entries }
        for entry in other.entries { set(entry.option, to: entry.value) }
    }

    private func place(of option: ObjectIdentifier) -> Int? {
        for place in entries.indices where entries[place].option == option { return place }
        return nil
    }

    private mutating func set(_ option: ObjectIdentifier, to value: any Sendable) {
        if let place = place(of: option) {
            entries[place].value = value
        } else {
            entries.append(Entry(option: option, value: value))
        }
    }

    /// The box keeps an explicit nil apart from nothing.
    private struct Stored<Value: Sendable>: Sendable {
        let value: Value
    }
}

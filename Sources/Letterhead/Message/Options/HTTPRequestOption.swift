/// A typed value that is attached to a request or a response, and is never sent.
///
/// A request carries settings to the loaders that read them. A response carries values of a loader or a validator to
/// the caller: `response[option: Envelope.self]`.
///
/// To use an option, read and write `request[option: Tenant.self]`. To define an option, declare a type, usually an
/// empty enumeration, with a default value, and a property for it in ``RequestSettings``:
///
/// ```swift
/// enum Tenant: HTTPRequestOption {
///     static let defaultOptionValue = "none"
/// }
///
/// extension RequestSettings {
///     var tenant: String {
///         get { self[option: Tenant.self] }
///         set { self[option: Tenant.self] = newValue }
///     }
/// }
/// ```
///
/// Law: the default never changes. An option whose value is optional distinguishes an explicit nil from an unset value.
public protocol HTTPRequestOption {
    /// The type of the option's value.
    associatedtype Value: Sendable

    /// The value of a request that does not set the option.
    static var defaultOptionValue: Value { get }
}

/// The settings of a request: properties that an ``HTTPRequest`` and the ``HTTPRequestOptions`` of a template have in
/// common.
///
/// Each property is declared once, in an extension of this protocol, beside the link that reads it. Declare the property
/// of a custom ``HTTPRequestOption`` in the same way, so that links can read it in a request, and templates can set it in
/// their options.
public protocol RequestSettings: Sendable {
    /// The value of an option; its default if it is not set.
    subscript<Option: HTTPRequestOption>(option option: Option.Type) -> Option.Value { get set }
}

/// The options of a request or a template, by type.
public struct HTTPRequestOptions: RequestSettings {
    private struct Entry: Sendable {
        let option: ObjectIdentifier
        var value: any Sendable
    }

    /// An array, because there are few options: a linear search is faster than a single hash.
    private var entries: [Entry] = []

    /// Whether no option is set.
    var isEmpty: Bool { entries.isEmpty }

    /// Creates options of which none is set.
    public init() {}

    /// The value of an option; its default if it is not set.
    public subscript<Option: HTTPRequestOption>(option option: Option.Type) -> Option.Value {
        get {
            guard let place = place(of: ObjectIdentifier(option)) else { return Option.defaultOptionValue }
            return (entries[place].value as? Stored<Option.Value>)?.value ?? Option.defaultOptionValue
        }
        set { set(ObjectIdentifier(option), to: Stored(value: newValue)) }
    }

    /// Returns whether an option was set, including to its default or to nil.
    public func contains(_ option: (some HTTPRequestOption).Type) -> Bool {
        place(of: ObjectIdentifier(option)) != nil
    }

    /// Removes an option, so that it has its default again.
    public mutating func remove(_ option: (some HTTPRequestOption).Type) {
        if let place = place(of: ObjectIdentifier(option)) { entries.remove(at: place) }
    }

    /// Sets every option that is set in `other`, replacing the values here.
    public mutating func replace(with other: HTTPRequestOptions) {
        guard !entries.isEmpty else { return entries = other.entries }
        for entry in other.entries { set(entry.option, to: entry.value) }
    }

    /// Sets every option that is set in `other` and not set here.
    public mutating func fill(from other: HTTPRequestOptions) {
        guard !entries.isEmpty else { return entries = other.entries }
        for entry in other.entries where place(of: entry.option) == nil { entries.append(entry) }
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

    /// A box that distinguishes an explicit nil from an absent value.
    private struct Stored<Value: Sendable>: Sendable {
        let value: Value
    }
}

// SPDX-License-Identifier: MIT
/// Named values, sent as the query of a GET or HEAD, and as a JSON object in the body of any other method.
///
/// Use them for an API that takes the same arguments with several methods, or for a short JSON object without a type.
///
/// ```swift
/// var parameters: RequestParameters { ["name": name, "tags": ["a", "b"], "note": note] }  // nil is left out
/// ```
public struct RequestParameters: Sendable, ExpressibleByDictionaryLiteral {
    private var items: [(name: String, value: any ParameterValue)] = []
    private var places: [[UInt8]: Int] = [:]
    /// Why the parameters cannot be sent. A decorator sets it if it could not write a value into them.
    var conflict: String?

    /// Creates parameters without values, which send nothing.
    public init() {}

    /// Creates parameters in order and omits nil values. If a name occurs more than once, the last value is used.
    public init(dictionaryLiteral elements: (String, (any ParameterValue)?)...) {
        for (name, value) in elements { self[name] = value }
    }

    /// The value with a name, or nil if there is none. Setting an existing name keeps its position. Setting nil removes
    /// the parameter.
    public subscript(name: String) -> (any ParameterValue)? {
        get { places[Array(name.utf8)].map { items[$0].value } }
        set {
            let key = Array(name.utf8)
            switch (places[key], newValue) {
            case (let place?, let value?): items[place].value = value
            case (let place?, nil):
                items.remove(at: place)
                places = Dictionary(uniqueKeysWithValues: zip(items.map { Array($0.name.utf8) }, items.indices))
            case (nil, let value?):
                places[key] = items.count
                items.append((name, value))
            case (nil, nil): break
            }
        }
    }

    /// Appends the parameters of `other` with names that are missing here: `parameters.fill(from: ["page": page])`.
    public mutating func fill(from other: RequestParameters) {
        for (name, value) in other where self[name] == nil { self[name] = value }
        conflict = conflict ?? other.conflict
    }

    /// Appends the parameters to a query, in order.
    public func append(to query: inout QueryParameters) {
        for (name, value) in items { value.append(to: &query, name: name) }
    }
}

extension RequestParameters: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { items.count }
    public subscript(position: Int) -> (name: String, value: any ParameterValue) { items[position] }
}

extension RequestParameters: CustomStringConvertible, CustomReflectable {
    /// The parameters as a query, with secret values redacted.
    public var description: String {
        var query = QueryParameters()
        append(to: &query)
        return query.description
    }

    public var customMirror: Mirror { Mirror(describing: self, as: .dictionary) }
}

extension RequestParameters: Encodable {
    public func encode(to encoder: any Encoder) throws {
        if let conflict { throw HTTPBodyError.invalid(conflict) }
        var container = encoder.container(keyedBy: Name.self)
        for (name, value) in items { try container.encode(value, forKey: Name(stringValue: name)) }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

/// A type that can be a parameter: a query item or a member of a JSON object.
public typealias ParameterValue = QueryValue & Encodable

enum StandardParameters {
    static func areQuery(of method: HTTPMethod) -> Bool { method == .get || method == .head }

    static func isEmpty(_ body: some Any) -> Bool {
        if let body = body as? any HTTPBody { return body.isEmpty }
        let mirror = Mirror(reflecting: body)
        return mirror.displayStyle == .optional && mirror.children.isEmpty
    }
}

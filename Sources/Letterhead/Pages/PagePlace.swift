import Foundation

/// Where the position of a page is written: the query and the parameters of its request.
struct PagePlace: Sendable {
    /// The query.
    var query: QueryParameters
    /// The parameters; the JSON body of a method other than GET and HEAD.
    var parameters: RequestParameters
    let method: HTTPMethod
    private let isBodyFree: Bool

    init<Template: RequestTemplate>(of template: Template) {
        (query, parameters, method) = (template.query, template.parameters, template.method)
        isBodyFree = Template.Body.self == EmptyBody.self || StandardParameters.isEmpty(template.body)
    }

    /// Whether the parameters are the JSON body: the method has one, and the template has no other.
    var hasJSON: Bool {
        !StandardParameters.areQuery(of: method) && (isBodyFree || !parameters.isEmpty)
    }

    /// Writes a value where a parameter belongs; null removes a query parameter.
    mutating func write(_ value: JSONValue, at parameter: PageParameter) {
        switch parameter.place(in: self) {
        case .query(let name) where value.hasObject:
            refuse([name], "it is a JSON object, which a query cannot hold")
        case .query(let name): query.set(name, to: value == .null ? nil : value)
        case .json(let path): setMember(value, at: path)
        }
    }

    /// Whether a parameter is there already.
    func contains(_ parameter: PageParameter) -> Bool {
        switch parameter.place(in: self) {
        case .query(let name): query.contains(name) || parameters[name] != nil
        case .json(let path): containsMember(at: path)
        }
    }

    /// A null on the way or at the end is none: an API may have one sent for its first page.
    private func containsMember(at path: [String]) -> Bool {
        guard let name = path.first, let value = parameters[name] else { return false }
        guard path.count > 1 else { return true }
        var member = JSONValue(encoding: value)
        for name in path.dropFirst() { member = member?[name] }
        return member != nil && member != .null
    }

    /// Sets a member of the JSON parameters; what is no object on the way is not replaced but refused, when the request is
    /// built.
    private mutating func setMember(_ value: JSONValue, at path: [String]) {
        guard let name = path.first else { return }
        guard path.count > 1 else { return parameters[name] = value }
        guard !StandardParameters.areQuery(of: method) else {
            return refuse(path, "the parameters of a \(method) are its query")
        }
        var member = JSONValue.object([:])
        if let present = parameters[name] {
            guard let json = JSONValue(encoding: present), json.hasRoom(at: path.dropFirst()) else {
                return refuse(path, "what is there on the way to it is no JSON object")
            }
            member = json
        }
        member.set(value, at: path.dropFirst())
        parameters[name] = member
    }

    private mutating func refuse(_ path: [String], _ reason: String) {
        refuse("the page parameter \(Redaction.visible(path.joined(separator: "."))) cannot be written: \(reason)")
    }

    /// Has the request refused when it is built.
    mutating func refuse(_ rule: String) { parameters.conflict = rule }
}

extension JSONValue {
    /// The JSON that a parameter is sent as; nil when it cannot be encoded.
    fileprivate init?(encoding value: any ParameterValue) {
        if let json = value as? JSONValue {
            self = json
        } else if let data = try? JSONEncoder().encode(value),
            let json = try? JSONText.value(of: data)
        {
            self = json
        } else {
            return nil
        }
    }

    /// Whether it is an object, or a list that holds one.
    fileprivate var hasObject: Bool {
        switch self {
        case .object: true
        case .array(let elements): elements.contains { $0.hasObject }
        default: false
        }
    }

    /// Whether a path leads through objects, or through what is not there yet.
    fileprivate func hasRoom(at path: some Collection<String>) -> Bool {
        guard let name = path.first else { return true }
        switch self {
        case .null: return true
        case .object(let members): return members[name]?.hasRoom(at: path.dropFirst()) ?? true
        default: return false
        }
    }
}

/// Where a page's position goes: a literal is a query parameter of GET and HEAD, and of any other method a member of the
/// JSON parameters, unless the template has a body of its own: then it is a query parameter, too.
public struct PageParameter: Sendable, Hashable, ExpressibleByStringLiteral {
    private enum Kind: Hashable {
        case automatic(String)
        case query(String)
        case json([String])
    }

    private let kind: Kind

    /// By the method and the body of the template.
    public static func automatic(_ name: String) -> PageParameter { PageParameter(kind: .automatic(name)) }

    /// In the query, whatever the method.
    public static func query(_ name: String) -> PageParameter { PageParameter(kind: .query(name)) }

    /// In the JSON parameters, at the end of a path of names: `.json("variables", "after")`.
    ///
    /// What is on the way must be encoded as an object, or is made; with anything else there, and for a GET or HEAD, which
    /// has no JSON, the request is `.invalidRequest`.
    public static func json(_ path: String...) -> PageParameter { PageParameter(kind: .json(path)) }

    /// The same as ``automatic(_:)``.
    public init(stringLiteral value: String) { kind = .automatic(value) }

    private init(kind: Kind) { self.kind = kind }

    enum Place {
        case query(String)
        case json([String])
    }

    func place(in place: PagePlace) -> Place {
        switch kind {
        case .query(let name): .query(name)
        case .json(let path): .json(path)
        case .automatic(let name):
            place.hasJSON ? .json([name]) : .query(name)
        }
    }
}

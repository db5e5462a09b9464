// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// The query and the parameters of a request, into which the position of a page is written.
struct PagePlace: Sendable {
    var query: QueryParameters
    /// The parameters, which are sent as the JSON body if the method is neither GET nor HEAD.
    var parameters: RequestParameters
    let method: HTTPMethod
    private let isBodyFree: Bool

    init<Template: RequestTemplate>(of template: Template) {
        if let placed = template as? any PlacedTemplate {
            self = placed.place
            return
        }
        (query, parameters, method) = (template.query, template.parameters, template.method)
        isBodyFree = Template.Body.self == EmptyBody.self || StandardParameters.isEmpty(template.body)
    }

    /// Whether the parameters are sent as the JSON body: the method is neither GET nor HEAD, and the template declares
    /// parameters or has no body.
    var hasJSON: Bool {
        !StandardParameters.areQuery(of: method) && (isBodyFree || !parameters.isEmpty)
    }

    /// Writes a value to a parameter. null removes a query parameter.
    mutating func write(_ value: JSONValue, at parameter: PageParameter) {
        switch parameter.destination(in: self) {
        case .query(let name) where value.hasObject:
            refuse([name], "a query parameter cannot hold a JSON object; use .json for the parameter")
        case .query(let name): query.set(name, to: value == .null ? nil : value)
        case .json(let path): setMember(value, at: path)
        }
    }

    func contains(_ parameter: PageParameter) -> Bool {
        switch parameter.destination(in: self) {
        case .query(let name): query.contains(name) || parameters[name] != nil
        case .json(let path): containsMember(at: path)
        }
    }

    /// Returns whether a member exists. If the path has several names, a null anywhere along it counts as absent,
    /// because some APIs require an explicit null for the first page.
    private func containsMember(at path: [String]) -> Bool {
        guard let name = path.first, let value = parameters[name] else { return false }
        guard path.count > 1 else { return true }
        var member = JSONValue(encoding: value)
        for name in path.dropFirst() { member = member?[name] }
        return member != nil && member != .null
    }

    /// Sets a member of the JSON parameters. If a value along the path is neither an object nor null, the value is
    /// kept, and the request is refused when it is built.
    private mutating func setMember(_ value: JSONValue, at path: [String]) {
        guard let name = path.first else { return }
        guard path.count > 1 else { return parameters[name] = value }
        guard !StandardParameters.areQuery(of: method) else {
            return refuse(path, "a \(method) request sends its parameters in the query, which cannot be nested")
        }
        var member = JSONValue.object([:])
        if let present = parameters[name] {
            guard let json = JSONValue(encoding: present), json.hasRoom(at: path.dropFirst()) else {
                return refuse(path, "a value along the path is not a JSON object")
            }
            member = json
        }
        member.set(value, at: path.dropFirst())
        parameters[name] = member
    }

    private mutating func refuse(_ path: [String], _ reason: String) {
        refuse("the page parameter \(Redaction.visible(path.joined(separator: "."))) cannot be written: \(reason)")
    }

    mutating func refuse(_ rule: String) { parameters.conflict = rule }
}

/// A template whose query and parameters are read together, so that nested ones are read once and not twice for each level.
protocol PlacedTemplate {
    var place: PagePlace { get }
}

extension Modified: PlacedTemplate {
    var place: PagePlace {
        var place = PagePlace(of: base)
        place.query = changed(place.query)
        return place
    }
}

extension JSONValue {
    /// Creates the JSON that a parameter is sent as; nil if it cannot be encoded.
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

    fileprivate var hasObject: Bool {
        switch self {
        case .object: true
        case .array(let elements): elements.contains { $0.hasObject }
        default: false
        }
    }

    /// Returns whether every existing value along a path is an object or null.
    fileprivate func hasRoom(at path: some Collection<String>) -> Bool {
        guard let name = path.first else { return true }
        switch self {
        case .null: return true
        case .object(let members): return members[name]?.hasRoom(at: path.dropFirst()) ?? true
        default: return false
        }
    }
}

/// The parameter that contains the position of a page. A string literal creates an ``automatic(_:)`` parameter.
public struct PageParameter: Sendable, Hashable, ExpressibleByStringLiteral {
    private enum Kind: Hashable {
        case automatic(String)
        case query(String)
        case json([String])
    }

    private let kind: Kind

    /// A parameter whose location depends on the method and the body of the template.
    ///
    /// It is a query parameter if the method is GET or HEAD, or if the template has a body. Otherwise it is a member of
    /// the JSON parameters.
    public static func automatic(_ name: String) -> PageParameter { PageParameter(kind: .automatic(name)) }

    /// A query parameter, regardless of the method.
    public static func query(_ name: String) -> PageParameter { PageParameter(kind: .query(name)) }

    /// A member of the JSON parameters, at a path of names: `.json("variables", "after")`.
    ///
    /// Missing objects along the path are created. The request is `.invalidRequest` in these cases:
    ///
    /// - A value along the path is neither an object nor null.
    /// - The path has several names, and the method is GET or HEAD, whose parameters are sent as the query.
    /// - The template has a body, and the method is not GET or HEAD.
    public static func json(_ path: String...) -> PageParameter { PageParameter(kind: .json(path)) }

    /// Creates the same parameter as ``automatic(_:)``.
    public init(stringLiteral value: String) { kind = .automatic(value) }

    private init(kind: Kind) { self.kind = kind }

    enum Place {
        case query(String)
        case json([String])
    }

    func destination(in place: PagePlace) -> Place {
        switch kind {
        case .query(let name): .query(name)
        case .json(let path): .json(path)
        case .automatic(let name):
            place.hasJSON ? .json([name]) : .query(name)
        }
    }
}

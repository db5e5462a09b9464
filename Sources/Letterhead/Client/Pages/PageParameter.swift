// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// The query and the parameters of a request. The position of a page is written into them.
struct ParameterDraft: Sendable {
    var query: QueryParameters
    /// The parameters, which are sent as the JSON body if the method is neither GET nor HEAD.
    var parameters: RequestParameters
    let method: HTTPMethod
    private let isBodyFree: Bool

    init<Template: RequestTemplate>(of template: Template) {
        if let template = template as? any DraftedTemplate {
            self = template.draft
            return
        }
        (query, parameters, method) = (template.query, template.parameters, template.method)
        isBodyFree = Template.Body.self == EmptyBody.self || StandardParameters.isEmpty(template.body)
    }

    /// Whether the parameters are sent as the JSON body. They are if the method is neither GET nor HEAD, and the
    /// template declares parameters or has no body.
    var hasJSON: Bool {
        !StandardParameters.areQuery(of: method) && (isBodyFree || !parameters.isEmpty)
    }

    /// Writes a value to a parameter. Null removes a query parameter. If a value along the path of a JSON
    /// parameter is neither an object nor null, it is kept, and building the request fails.
    mutating func write(_ value: JSONValue, at parameter: PageParameter) {
        let path = parameter.path
        guard let name = path.first else { return }
        if !parameter.isJSON(in: self) {
            guard !value.hasObject else {
                return refuse(path, "a query parameter cannot hold a JSON object (use .json for the parameter)")
            }
            query.set(name, to: value == .null ? nil : value)
            if StandardParameters.areQuery(of: method) { parameters[name] = nil }
        } else if path.count == 1 {
            parameters[name] = value
        } else if StandardParameters.areQuery(of: method) {
            refuse(path, "a \(method) request sends its parameters in the query, which cannot be nested")
        } else {
            var member: JSONValue? = .some(.null)
            if let present = parameters[name] { member = JSONValue(encoding: present) }
            guard member?.set(value, at: path.dropFirst()) == true else {
                return refuse(path, "a value along its path is not a JSON object")
            }
            parameters[name] = member
        }
    }

    /// Whether a parameter is set. If a JSON parameter has a path of several names, a null anywhere along it counts as
    /// absent, because some APIs require an explicit null for the first page.
    func contains(_ parameter: PageParameter) -> Bool {
        guard let name = parameter.path.first else { return false }
        guard parameter.isJSON(in: self) else { return query.contains(name) || parameters[name] != nil }
        guard let value = parameters[name] else { return false }
        guard parameter.path.count > 1 else { return true }
        var member = JSONValue(encoding: value)
        for name in parameter.path.dropFirst() { member = member?[name] }
        return member != nil && member != .null
    }

    private mutating func refuse(_ path: [String], _ reason: String) {
        refuse("the page parameter \(Redaction.visible(path.joined(separator: "."))) cannot be written: \(reason)")
    }

    mutating func refuse(_ rule: String) { parameters.conflict = rule }
}

/// A template that provides its query and parameters together. If nested templates read them separately, each level
/// would read the levels below twice.
protocol DraftedTemplate {
    var draft: ParameterDraft { get }
}

extension Modified: DraftedTemplate {
    var draft: ParameterDraft {
        var draft = ParameterDraft(of: base)
        draft.query = changed(draft.query)
        return draft
    }
}

extension JSONValue {
    /// Creates the JSON of a parameter. Nil if it cannot be encoded.
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

    /// Sets the member at a path of names, and creates missing objects along the path. Returns false if a value along
    /// the path is neither an object nor null.
    fileprivate mutating func set(_ value: JSONValue, at path: ArraySlice<String>) -> Bool {
        guard let name = path.first else {
            self = value
            return true
        }
        switch self {
        case .null, .object: return self[name].set(value, at: path.dropFirst())
        default: return false
        }
    }
}

/// The parameter that contains the position of a page. A string literal creates an ``automatic(_:)`` parameter.
public struct PageParameter: Sendable, Hashable {
    private enum Place {
        case automatic
        case query
        case json
    }

    let path: [String]
    private let place: Place

    /// A parameter with a location that depends on the method and the body of the template.
    ///
    /// It is a query parameter if the method is GET or HEAD, or if the template has a body. Otherwise, it is a JSON
    /// parameter.
    public static func automatic(_ name: String) -> PageParameter { PageParameter(path: [name], place: .automatic) }

    /// A query parameter, regardless of the method.
    public static func query(_ name: String) -> PageParameter { PageParameter(path: [name], place: .query) }

    /// A JSON parameter, at a path of names: `.json("variables", "after")`.
    ///
    /// Missing objects along the path are created. The request fails with `.invalidRequest` in these cases:
    ///
    /// - A value along the path is neither an object nor null.
    /// - The path has several names, and the method is GET or HEAD, which sends its parameters as the query.
    /// - The template has a body, and the method isn't GET or HEAD.
    public static func json(_ path: String...) -> PageParameter { PageParameter(path: path, place: .json) }

    /// Whether it is a JSON parameter in a request with this method and body.
    func isJSON(in draft: ParameterDraft) -> Bool { place == .json || place == .automatic && draft.hasJSON }
}

extension PageParameter: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self = .automatic(value) }
}

// SPDX-License-Identifier: MIT
/// A URI template with named variables (RFC 6570, all four levels).
///
/// ```swift
/// let repos = URITemplate("users/{login}/repos{?page,per_page}")
/// repos.expanded(["login": "a b", "page": 2])     // users/a%20b/repos?page=2
/// let get = Get<[Repo]>(repos, ["login": login, "page": page])
/// let request = try HTTPRequest(URITemplate(links.search), ["q": "swift", "tag": ["a", "b"]])
/// ```
///
/// Use it for templates that an API publishes, for example in a hypermedia document or an OpenAPI description. In your
/// own code, write a ``RequestPath``.
///
/// Rules:
/// - A variable without a value, or with an empty list, is left out as the RFC requires: `users/{login}` may become
///   `users/`.
/// - The value of a `{+variable}` or `{#variable}` may contain slashes, a query or a host. No other value can add one.
/// - A malformed template fails when it is used: a request from it is `.invalidRequest`, and the message names the
///   position and the rule.
/// - A path with a segment `.` or `..`, which a value could add, fails in the same way.
public struct URITemplate: Sendable, CustomStringConvertible {
    /// The template as it was written.
    public let description: String
    private let parts: [URITemplatePart]
    /// Where and why the template is malformed, or nil if it isn't.
    private let defect: URITemplateDefect?

    /// Creates a template from any text. If it is malformed, each request from it fails with `.invalidRequest`.
    public init(_ text: String) {
        description = text
        var parser = URITemplateParser(text)
        (parts, defect) = parser.parse()
    }

    /// Returns the URI reference for some values.
    ///
    /// If the template is malformed, or sets a length limit for a list, the remaining template is returned unexpanded,
    /// as RFC 6570, section 3, recommends. Such a text isn't a URL. The other functions report the error.
    public func expanded(_ values: Values = [:]) -> String { expansion(of: values).text }

    /// Returns the path for some values, without a query. If the template is malformed, a request with this path is
    /// `.invalidRequest`.
    public func path(_ values: Values = [:]) -> RequestPath {
        let expansion = expansion(of: values)
        let defect = pathDefect(of: expansion) ?? (URLParts.namesHost(expansion.text) ? .host : nil)
        return RequestPath(escaped: Self.path(of: expansion.text), route: route, defect: defect)
    }

    /// Returns the query items for some values, the part after the `?`. If the template is malformed, a request with
    /// this query is `.invalidRequest`.
    public func query(_ values: Values = [:]) -> QueryParameters {
        let expansion = expansion(of: values)
        if let defect = expansion.defect { return QueryParameters([.init("", refused: defect.description)]) }
        let query = URLParts(expansion.text).query ?? ""
        return QueryParameters(escaped: query)
    }

    /// The path as it was written, for ``RequestPath/route``.
    private var route: String? {
        guard defect == nil else { return nil }
        let text = parts.map { part in
            switch part {
            case .literal(let text): text
            case .expression(let expression) where expression.operation.isInPath:
                "\(expression.operation.first){\(expression.variables.map(\.name).joined(separator: ","))}"
            case .expression: "?"
            }
        }.joined()
        return Self.path(of: text)
    }

    /// Returns the path in a reference. Without a host, a first segment such as `accounts:lookup` isn't taken for a
    /// scheme.
    private static func path(of reference: String) -> String {
        if URLParts.namesHost(reference) { return URLParts(reference).path }
        let path = reference.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        return String(decoding: path, as: UTF8.self)
    }

    /// Returns why a path from the expansion is refused, or nil if it isn't.
    private func pathDefect(of expansion: (text: String, defect: URITemplateDefect?)) -> RequestPath.Defect? {
        if let defect = expansion.defect { return .template(defect.description) }
        let hasDots = Self.path(of: expansion.text).split(at: "/").contains {
            $0.isSame(as: ".") || $0.isSame(as: "..")
        }
        return hasDots ? .dotValue : nil
    }

    /// Returns the text up to the first defect, followed by the remaining template.
    func expansion(of values: Values) -> (text: String, defect: URITemplateDefect?) {
        var text = ""
        for part in parts {
            switch part {
            case .literal(let literal): text += literal
            case .expression(let expression):
                do { text += try expression.expanded(values) } catch {
                    return (text + rest(from: expression.offset), error)
                }
            }
        }
        guard let defect else { return (text, nil) }
        return (text + rest(from: defect.start), defect)
    }

    private func rest(from offset: Int) -> String {
        String(decoding: description.utf8.dropFirst(offset), as: UTF8.self)
    }
}

extension URITemplate {
    /// The values for the variables in a template: strings, numbers, lists, pairs, and all other query values. An empty
    /// list counts as no value.
    ///
    /// ```swift
    /// [
    ///     "login": "ada", "page": 2, "fields": ["id", "name"],
    ///     "filter": URITemplate.pairs(["color": "red"]),
    /// ]
    /// ```
    public struct Values: Sendable, ExpressibleByDictionaryLiteral {
        private var values: [String: URITemplateValue] = [:]

        /// Creates values. If a variable occurs several times, its last value counts. Nil means no value.
        public init(dictionaryLiteral elements: (String, (any QueryValue)?)...) {
            for (name, value) in elements { set(name, to: value) }
        }

        init(_ query: QueryParameters) {
            // The name of a variable is ASCII, and other names would take long to compare.
            for items in Dictionary(grouping: query, by: { Array($0.name.utf8) }).values
            where ASCII.isASCII(items[0].name) {
                // The value of a single item isn't a list, so that its length can be limited.
                let texts = items.map { $0.value ?? "" }
                set(items[0].name, to: items.count == 1 ? texts[0] as any QueryValue : texts)
            }
        }

        /// Sets a variable, or removes it for nil.
        public mutating func set(_ name: String, to value: (any QueryValue)?) {
            values[name] = value.flatMap { URITemplateValue($0) }
        }

        subscript(variable name: String) -> URITemplateValue? { values[name] }
    }

    /// A value with names and values, such as a filter: `{?filter*}` becomes `?color=red&size=2`, and `{?filter}`
    /// becomes `?filter=color,red,size,2`.
    public static func pairs(_ pairs: QueryParameters) -> some QueryValue { URITemplatePairs(items: pairs) }
}

private struct URITemplatePairs: QueryValue {
    let items: QueryParameters

    func append(to query: inout QueryParameters, name: String) { items.forEach { query.append($0) } }
}

enum URITemplateValue: Sendable {
    case single(String)
    case list([String])
    case pairs([(name: String, value: String)])
    /// A value that can't be written, with the reason.
    case refused(String)

    /// Converts a query value. Returns nil for an empty list, because it counts as no value (RFC 6570, 2.3).
    init?(_ value: any QueryValue) {
        var items = (value as? URITemplatePairs)?.items ?? QueryParameters()
        let isPairs = !items.isEmpty
        let list = (value as? any QueryElements)?.elements
        if !isPairs { (list ?? value).append(to: &items, name: "value") }
        guard !items.isEmpty else { return nil }
        if let refusal = items.lazy.compactMap(\.refusal).first {
            self = .refused(refusal)
        } else if isPairs {
            self = .pairs(items.map { ($0.name, $0.value ?? "") })
        } else if items.count == 1, list == nil {
            self = .single(items[0].value ?? "")
        } else {
            self = .list(items.map { $0.value ?? "" })
        }
    }
}

extension HTTPRequest {
    /// Creates a request from a template. The template expands to an absolute http or https URL, or to a path and a
    /// query that an environment completes.
    ///
    /// - Throws: `.invalidRequest` if the template is malformed, or if it expands to anything else.
    public init(
        method: HTTPMethod = .get, _ template: URITemplate, _ values: URITemplate.Values = [:]
    ) throws(HTTPError) {
        let path = template.path(values)
        if path.defect == .host {
            try self.init(method: method, template.expanded(values))
        } else {
            self.init(method: method, path: path, query: template.query(values), headers: [:], options: .init())
            if let defect = path.defect {
                throw HTTPError(.invalidRequest, request: self, message: "the path is refused: \(defect.rule)")
            }
        }
    }
}

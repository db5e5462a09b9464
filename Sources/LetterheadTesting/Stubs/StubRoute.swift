// SPDX-License-Identifier: MIT
public import LetterheadFoundation
public import Letterhead

/// Conditions for a stub without an endpoint type: a method, a path, parts of the query, the headers and the JSON body,
/// and closures.
///
/// ```swift
/// stubs.on(.get("/users/{login}")) { call in .json(User(login: call["login"])) }
/// stubs.on(.post("/users").query("notify", "yes").body(containing: ["login": "ada"])) { _ in .status(.created) }
/// ```
///
/// A path is compared segment by segment, after percent decoding. Anything that the route doesn't specify can have any
/// value. In a pattern:
///
/// - `{name}` matches one segment and captures it.
/// - `*` matches one segment.
/// - `**` at the end matches all remaining segments.
public struct StubRoute: Sendable, Hashable, CustomStringConvertible {
    private var method: HTTPMethod?
    package let pattern: String
    private var host: String?
    private var items: [QueryParameters.Item] = []
    private var fields: [HTTPHeaders.Field] = []
    private var json: JSONValue?
    private var conditions: [Condition] = []

    /// A closure from the test, with a description. Closures can't be compared, so two conditions are equal if their
    /// descriptions are.
    private struct Condition: Sendable, Hashable {
        let description: String
        let holds: @Sendable (HTTPRequest) -> Bool

        static func == (left: Condition, right: Condition) -> Bool { left.description == right.description }

        func hash(into hasher: inout Hasher) { hasher.combine(description) }
    }

    /// Creates a route.
    ///
    /// - Parameters:
    ///   - method: the method, or nil for any method.
    ///   - path: the pattern for the path.
    public init(_ method: HTTPMethod?, _ path: String) { (self.method, pattern) = (method, path) }

    /// Matches GET requests with a path.
    public static func get(_ path: String) -> StubRoute { StubRoute(.get, path) }
    /// Matches POST requests with a path.
    public static func post(_ path: String) -> StubRoute { StubRoute(.post, path) }
    /// Matches PUT requests with a path.
    public static func put(_ path: String) -> StubRoute { StubRoute(.put, path) }
    /// Matches PATCH requests with a path.
    public static func patch(_ path: String) -> StubRoute { StubRoute(.patch, path) }
    /// Matches DELETE requests with a path.
    public static func delete(_ path: String) -> StubRoute { StubRoute(.delete, path) }
    /// Matches requests with any method.
    ///
    /// - Parameter path: the pattern for the path. Default: `**`, which matches every request.
    public static func any(_ path: String = "**") -> StubRoute { StubRoute(nil, path) }

    /// Returns the route, restricted to a host. Upper and lower case don't matter.
    public func host(_ host: String) -> StubRoute { with { $0.host = ASCII.lowercased(host) } }

    /// Returns the route, restricted to requests with a query item. Pass nil for an item without a value.
    public func query(_ name: String, _ value: String?) -> StubRoute {
        with { $0.items.append(QueryParameters.Item(name, value)) }
    }

    /// Returns the route, restricted to requests with a header field.
    public func header(_ name: HTTPHeaders.Name, _ value: String) -> StubRoute {
        with { $0.fields.append(HTTPHeaders.Field(name, value)) }
    }

    /// Returns the route, restricted to requests with a JSON body that contains a value.
    ///
    /// An object contains a smaller object if it has all of its members. Arrays must have the same number of elements.
    /// Numbers are compared by value.
    public func body(containing json: JSONValue) -> StubRoute { with { $0.json = json } }

    /// Returns the route, restricted to requests that fulfill your condition.
    ///
    /// ```swift
    /// stubs.on(.any().matching("is signed") { $0.headers.contains("X-Signature") }) { _ in .status(.ok) }
    /// stubs.on(.any().matching { $0.path.string.contains(/users\/[0-9]+/) }) { _ in .json(ada) }
    /// ```
    ///
    /// Closures can't be compared, so two routes are equal only if their conditions have the same descriptions.
    ///
    /// - Parameters:
    ///   - description: names the condition in errors. Default: nil (the file and the line name it).
    ///   - fileID: names a condition without a description. Default: the calling file.
    ///   - line: names a condition without a description. Default: the calling line.
    ///   - condition: returns whether a request matches. It can be called more than once for a request.
    public func matching(
        _ description: String? = nil, fileID: String = #fileID, line: Int = #line,
        _ condition: @escaping @Sendable (HTTPRequest) -> Bool
    ) -> StubRoute {
        let description = description.map { "\"\($0)\"" } ?? "in \(fileID):\(line)"
        return with { $0.conditions.append(Condition(description: description, holds: condition)) }
    }

    /// The method and the pattern.
    public var description: String { "\(method.map { "\($0) " } ?? "")\(pattern)" }

    private func with(_ change: (inout StubRoute) -> Void) -> StubRoute {
        var copy = self
        change(&copy)
        return copy
    }
}

extension StubRoute {
    /// Returns the captured segments of a path by name, or nil if the path doesn't match.
    func captures(in path: String) -> [String: String]? {
        var segments = Self.segments(of: path)[...]
        var captured: [String: String] = [:]
        for part in Self.segments(of: pattern) {
            if part == "**" { return captured }
            guard let segment = segments.popFirst() else { return nil }
            if part.begins(with: "{"), part.ends(with: "}") {
                captured[String(Substring(part.utf8.dropFirst().dropLast()))] = segment
            } else if part != "*", !part.isSame(as: segment) {
                return nil
            }
        }
        return segments.isEmpty ? captured : nil
    }

    /// Returns whether the route matches a request.
    package func matches(_ request: HTTPRequest, body: Data?) -> Bool {
        differences(from: StubInput(request: request, body: body, clock: ContinuousClock(), encoder: nil)).isEmpty
    }

    /// Returns the differences between the route and a request.
    func differences(from input: StubInput) -> [Stub.Difference] {
        let request = input.request
        var found: [Stub.Difference] = []
        if let method, method != request.method { found.append(.init(weight: 3, text: "the method is not \(method)")) }
        if captures(in: input.path) == nil {
            found.append(.init(weight: 6, text: "the path \(input.path) does not match \(pattern)"))
        }
        if let host, request.host.map(ASCII.lowercased) != host {
            found.append(.init(weight: 3, text: "the host is not \(host)"))
        }
        for item in items where !request.query.values(for: item.name).contains(item.value) {
            found.append(.init(weight: 2, text: "the query has no \(item)"))
        }
        let headers = request.framedHeaders()
        for field in fields where !headers.values(for: field.name).contains(field.value) {
            let state = headers.contains(field.name) ? "a different value" : "no value"
            found.append(.init(weight: 2, text: "the header \(field.name) has \(state)"))
        }
        for condition in conditions where !condition.holds(request) {
            found.append(.init(weight: 2, text: "the condition \(condition.description) is false"))
        }
        if let json, let difference = bodyDifference(json, input) { found.append(.init(weight: 2, text: difference)) }
        return found
    }

    private func bodyDifference(_ json: JSONValue, _ input: StubInput) -> String? {
        guard let body = input.body, let value = try? JSONDecoder().decode(JSONValue.self, from: body) else {
            return "the body is not JSON"
        }
        return JSONSubset.difference(json, in: value).map { "the body has a different value at \($0)" }
    }

    private static func segments(of path: String) -> [String] {
        path.split(at: "/").map { PercentEncoding.unescape($0) }
    }
}

/// A request that matches a route.
public struct StubRequest: Sendable {
    /// The sent request.
    public var request: HTTPRequest { input.request }
    /// The captured path segments by name, percent-decoded.
    public let parameters: [String: String]
    let input: StubInput

    /// The segment that was captured under a name, or an empty string if the route has no such name.
    public subscript(name: String) -> String { parameters[name] ?? "" }

    /// Returns the decoded request body.
    ///
    /// - Parameters:
    ///   - type: the value type.
    ///   - decoder: the decoder. Default: a plain `JSONDecoder`.
    /// - Throws: an error from reading or decoding the body.
    public func body<Value: Decodable>(
        as type: Value.Type, decoder: any HTTPBodyDecoder = JSONDecoder()
    ) async throws -> Value {
        try decoder.decode(type, from: try await input.allBytes())
    }
}

/// Compares a JSON value with a value that may contain more.
enum JSONSubset {
    /// Returns the path of the first value in `part` that `whole` doesn't contain, or nil if `whole` contains all
    /// values.
    static func difference(_ part: JSONValue, in whole: JSONValue, at path: String = "$") -> String? {
        switch (part, whole) {
        case (.object(let members), .object(let others)):
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                guard let other = others[name] else { return "\(path).\(name)" }
                if let difference = difference(value, in: other, at: "\(path).\(name)") { return difference }
            }
            return nil
        case (.array(let elements), .array(let others)):
            guard elements.count == others.count else { return path }
            for index in elements.indices {
                if let difference = difference(elements[index], in: others[index], at: "\(path)[\(index)]") {
                    return difference
                }
            }
            return nil
        default: return part == whole ? nil : path
        }
    }
}

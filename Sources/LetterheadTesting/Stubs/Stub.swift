// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead

/// One stub: the conditions for a request, the answer, and how many calls it expects.
struct Stub: Sendable {
    /// A reason why a stub doesn't answer a request. In an error, the stub with the smallest weights is the nearest
    /// one.
    struct Difference: Sendable {
        let weight: Int
        let text: String
    }

    /// What a stub was declared for. A stub that overrides replaces the stubs with the same subject.
    enum Subject: Hashable, Sendable {
        case type(ObjectIdentifier)
        case template(StubTemplate)
        case route(StubRoute)
        /// A template that can't build its request.
        case impossible(String)
    }

    let name: String
    let subject: Subject
    let times: StubTimes
    let state: StubState?
    /// Returns the differences between the conditions and a request. A request without differences matches.
    let differences: @Sendable (StubInput) -> [Difference]
    /// Returns the route of a request, or nil if the stub is meant for several routes.
    var route: @Sendable (StubInput) -> String? = { _ in nil }
    /// Responds to a request. The second argument is the number of the call, beginning with 0.
    let respond: @Sendable (StubInput, Int) async throws -> HTTPResponse

    /// Returns the reasons why the stub doesn't answer a request. It may have no calls left, or its scenario may be in
    /// a different state.
    func differences(from input: StubInput, count: Int) -> [Difference] {
        var found = differences(input)
        if let text = state?.difference { found.append(Difference(weight: 2, text: text)) }
        if times.most == 0 {
            found.append(Difference(weight: 1, text: "it must never be called"))
        } else if count >= times.most {
            let called = count == 1 ? "1 time" : "\(count) times"
            found.append(Difference(weight: 1, text: "it was already called \(called), which is its maximum"))
        }
        return found
    }

    /// Returns one sentence for each fault: the stub can never be called, was called too few times, or has answered
    /// several endpoints.
    func violations(count: Int, routes: [String]) -> [String] {
        if case .impossible(let reason) = subject { return ["the stub of \(name) can match no request: \(reason)"] }
        var found: [String] = []
        if count < times.least {
            found.append("\(name) was expected to be called \(times), but the number of calls is \(count)")
        }
        if routes.count > 1 {
            found.append(
                "the stub of \(name) has answered requests with different routes (\(routes.joined(separator: ", "))): stub "
                    + "each endpoint by its value, as in on(.user(\"ada\")), or restrict the stub with where:")
        }
        return found
    }
}

extension Stub {
    /// Creates a stub for all templates with a type, or for those that fulfill a condition.
    init<Template: RequestTemplate>(
        of type: Template.Type, _ times: StubTimes, where condition: (@Sendable (Template) -> Bool)? = nil,
        _ state: StubState?, _ answer: @escaping @Sendable (Template, Int) async throws -> StubAnswer<Template>
    ) {
        let name = StubInput.name(of: type)
        self.init(name: name, subject: .type(ObjectIdentifier(type)), times: times, state: state) { input in
            guard let template = input.template(as: type) else {
                let sent =
                    input.request.isRedirected ? "a redirect" : name == input.name ? "a different type" : input.name
                return [Difference(weight: 10, text: "the request is of \(sent), not of \(name)")]
            }
            guard condition?(template) == false else { return [] }
            return [Difference(weight: 2, text: "its condition is false for the template")]
        } route: { input in
            // A declared type is one endpoint, even if its paths differ. If there is a condition, the stub is meant for
            // several endpoints.
            guard condition == nil, let template = input.template(as: type) else { return nil }
            return template.root is any EndpointValue ? template.path.route : nil
        } respond: { input, turn in
            guard let template = input.template(as: type) else { throw CancellationError() }
            return try await answer(template, turn).respond(input)
        }
    }

    /// Creates a stub for requests that are equal to the template request.
    init<Template: RequestTemplate>(
        of template: Template, _ times: StubTimes, _ state: StubState?,
        _ answer: @escaping @Sendable (Template, Int) async throws -> StubAnswer<Template>
    ) {
        let parts: StubTemplate
        do throws(HTTPError) {
            parts = try StubTemplate(template)
        } catch {
            self.init(
                name: StubInput.name(of: Template.self), subject: .impossible(error.message), times: times, state: state
            ) { _ in
                [Difference(weight: 6, text: "its template can match no request: \(error.message)")]
            } respond: { _, _ in
                throw error
            }
            return
        }
        self.init(name: parts.name, subject: .template(parts), times: times, state: state) { input in
            parts.differences(from: input)
        } respond: { input, turn in
            // The request may be from a template with a different type.
            try await answer(input.template(as: Template.self) ?? template, turn).respond(input)
        }
    }

    /// Creates a stub for the requests that match a route.
    init(
        of route: StubRoute, _ times: StubTimes, _ state: StubState?,
        _ answer: @escaping @Sendable (StubRequest, Int) async throws -> StubLoader.RouteAnswer
    ) {
        self.init(name: "\(route)", subject: .route(route), times: times, state: state) { input in
            route.differences(from: input)
        } respond: { input, turn in
            let call = StubRequest(parameters: route.captures(in: input.path) ?? [:], input: input)
            return try await answer(call, turn).respond(input)
        }
    }
}

/// An endpoint that is declared as a value. All such endpoints have one type, although their paths differ.
private protocol EndpointValue {}

extension Endpoint: EndpointValue {}

extension [Stub.Difference] {
    var weight: Int { reduce(0) { $0 + $1.weight } }
}

/// The parts by which a stub recognizes a template: the method, path, query and body of its request. Headers and
/// settings aren't compared.
struct StubTemplate: Hashable {
    let method: HTTPMethod
    let path: RequestPath
    private let query: String
    private let body: ComparedBody
    /// The method, and the URL without query values.
    let name: String

    /// Builds the template request.
    ///
    /// - Throws: `.invalidRequest` if building the request fails, or if its body isn't in memory.
    init(_ template: some RequestTemplate) throws(HTTPError) {
        var request = try StandardRequestBuilder(template).request()
        name = "\(request.method) \(request.redaction.outline(of: request))"
        // A relative URL can't be validated, so it receives a host.
        if request.host == nil { request.host = "localhost" }
        try request.validate()
        (method, path, query) = (request.method, request.path, request.query.escaped)
        guard let data = try request.framedBody().data else {
            throw HTTPError(
                .invalidRequest, request: request, message: "the body is not in memory, so it cannot be compared")
        }
        body = ComparedBody(data, request.framedHeaders()[.contentType].flatMap { MediaType($0) })
    }

    /// Returns the differences from the request template, or from one of the templates that it decorates.
    func differences(from input: StubInput) -> [Stub.Difference] {
        let candidates = input.templates.map { template -> [Stub.Difference] in
            do throws(HTTPError) {
                return differences(from: try StubTemplate(template))
            } catch {
                return [.init(weight: 6, text: "the template cannot be compared: \(error.message)")]
            }
        }
        return candidates.min { $0.weight < $1.weight } ?? [.init(weight: 10, text: "the request has no template")]
    }

    private func differences(from sent: StubTemplate) -> [Stub.Difference] {
        var found: [Stub.Difference] = []
        if method != sent.method { found.append(.init(weight: 3, text: "the method is not \(method)")) }
        if path != sent.path { found.append(.init(weight: 6, text: "the path \(sent.path) is not \(path)")) }
        if query != sent.query { found.append(.init(weight: 2, text: "the query differs")) }
        if body != sent.body { found.append(.init(weight: 2, text: "the body differs")) }
        return found
    }
}

/// A received request, in the form that stubs need.
struct StubInput: Sendable {
    let request: HTTPRequest
    /// The body bytes. Nil if the body isn't in memory and can be read several times: the caller then reads it when
    /// needed.
    let body: Data?
    let clock: any Clock<Duration>
    /// The loader encoder, or nil to use one that matches the client decoder.
    let encoder: (any HTTPBodyEncoder)?

    /// The name of the endpoint, or the method and the path of a plain request.
    var name: String { request.template.map { Self.name(of: type(of: $0.root)) } ?? "\(request.method) \(path)" }

    var path: String { request.target.cut(at: "?").map { String($0.head) } ?? request.target }

    /// The request on one line, without query values.
    var outline: String {
        let sender = request.template.map { ", sent by \(Self.name(of: type(of: $0.root)))" } ?? ""
        return "\(request.method) \(request.redaction.outline(of: request))\(sender)"
    }

    /// The request, to send it to a different loader. If its body could be read only once, it has been read, so the
    /// bytes replace it.
    var forwarded: HTTPRequest {
        guard let body, !request.body.isReplayable else { return request }
        var request = request
        request.body = DataBody(body, additionalHeaders: request.body.additionalHeaders)
        return request
    }

    func allBytes() async throws -> Data {
        if let body { return body }
        return try await request.framedBody().allBytes()
    }

    static func name(of type: Any.Type) -> String { String(describing: type) }
}

extension StubInput {
    /// The template of the request, followed by the templates that it decorates. A redirected request has no templates,
    /// because the server has chosen its URL.
    var templates: [any RequestTemplate] {
        request.isRedirected ? [] : Array(sequence(first: request.template) { $0?.inner }.compactMap(\.self))
    }

    /// Returns the request template if it has a given type.
    func template<Template: RequestTemplate>(as type: Template.Type) -> Template? {
        request.isRedirected ? nil : request.template(as: type)
    }
}

extension RequestTemplate {
    /// The template inside all decorators.
    var root: any RequestTemplate {
        var template: any RequestTemplate = self
        while let inner = template.inner { template = inner }
        return template
    }
}

/// A body in a form that can be compared: JSON members have no order, and the boundary is fixed.
enum ComparedBody: Hashable {
    case none
    case json(JSONValue)
    case bytes(Data)

    init(_ data: Data, _ type: MediaType?) {
        if data.isEmpty {
            self = .none
        } else if type?.isMultipart != true, let json = try? JSONDecoder().decode(JSONValue.self, from: data) {
            self = .json(json)
        } else {
            self = .bytes(data.replacingBoundary(type?["boundary"]))
        }
    }
}

extension Data {
    /// Replaces a boundary with `boundary` wherever it occurs.
    func replacingBoundary(_ boundary: String?) -> Data {
        guard let boundary, !boundary.isEmpty else { return self }
        return replacing(Data(boundary.utf8), with: Data("boundary".utf8))
    }
}

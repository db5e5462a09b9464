// SPDX-License-Identifier: MIT
import Letterhead

/// One stub: its conditions, its answer, and how many calls it expects.
struct Stub: Sendable {
    /// A reason why a stub does not answer a request. A smaller weight means a better match.
    struct Difference: Sendable {
        let weight: Int
        let text: String
    }

    /// What a stub was declared for.
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
    /// Returns a request's route, or nil if the stub is meant for several routes.
    var route: @Sendable (StubInput) -> String? = { _ in nil }
    /// Responds to a request. The second argument is the call's number. The stub's first call has number 0.
    let respond: @Sendable (StubInput, Int) async throws -> HTTPResponse

    /// Returns the reasons why the stub does not answer a request, including used-up calls and another scenario state.
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

    /// One sentence for each fault: the stub can never be called, was called too few times, or has answered several
    /// endpoints.
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
                let sent = input.request.isRedirected ? "a redirect" : name == input.name ? "another type" : input.name
                return [Difference(weight: 10, text: "the request is of \(sent), not of \(name)")]
            }
            guard condition?(template) == false else { return [] }
            return [Difference(weight: 2, text: "its condition is false for the template")]
        } route: { input in
            // A declared type is one endpoint, even if its paths differ. A condition shows that the stub is meant for
            // more.
            guard condition == nil, let template = input.template(as: type) else { return nil }
            return template.root is any EndpointValue ? template.path.route : nil
        } respond: { input, turn in
            guard let template = input.template(as: type) else { throw CancellationError() }
            return try await answer(template, turn).respond(input)
        }
    }

    /// Creates a stub for the requests that one template builds.
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
            // An equal template with another type may have sent the request.
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

/// An endpoint that its values declare, so endpoints with different paths have the same type.
private protocol EndpointValue {}

extension Endpoint: EndpointValue {}

extension [Stub.Difference] {
    var weight: Int { reduce(0) { $0 + $1.weight } }
}

// SPDX-License-Identifier: MIT
public import Letterhead

extension StubLoader {
    /// Adds a stub that responds to an endpoint with values of its `Response`.
    ///
    /// ```swift
    /// stubs.on(GetUser.self) { template in User(login: template.login) }
    /// stubs.on(GetUser.self, times: 1, where: { $0.login == "ada" }) { _ in ada }
    /// ```
    ///
    /// - Parameters:
    ///   - type: the type of the endpoint. Decorators around it are ignored.
    ///   - times: the expected number of calls. Default: one or more.
    ///   - condition: restricts the stub to some templates. Default: nil (all templates).
    ///   - state: the state of a scenario in which the stub applies. Default: nil (always).
    ///   - answer: returns the value. An error that it throws fails the request like an error of a transport.
    @discardableResult
    public func on<Template: RequestTemplate>(
        _ type: Template.Type, times: StubTimes = .atLeastOnce,
        where condition: (@Sendable (Template) -> Bool)? = nil, during state: StubState? = nil,
        _ answer: @escaping @Sendable (Template) async throws -> Template.Response
    ) -> StubLoader {
        add(type, times, condition, state) { template, _ in .value(try await answer(template)) }
    }

    /// Adds a stub that responds to an endpoint with any ``StubAnswer``: a status, a failure, an error, a delay.
    ///
    /// ```swift
    /// stubs.on(DeleteUser.self, times: 1) { _ in .status(.noContent) }
    /// ```
    ///
    /// - Parameters:
    ///   - type: the type of the endpoint. Decorators around it are ignored.
    ///   - times: the expected number of calls. Default: one or more.
    ///   - condition: restricts the stub to some templates. Default: nil (all templates).
    ///   - state: the state of a scenario in which the stub applies. Default: nil (always).
    ///   - answer: returns the answer. An error that it throws fails the request like an error of a transport.
    @discardableResult
    public func on<Template: RequestTemplate>(
        _ type: Template.Type, times: StubTimes = .atLeastOnce,
        where condition: (@Sendable (Template) -> Bool)? = nil, during state: StubState? = nil,
        _ answer: @escaping @Sendable (Template) async throws -> StubAnswer<Template>
    ) -> StubLoader {
        add(type, times, condition, state) { template, _ in try await answer(template) }
    }

    /// Adds a stub that responds to the calls of an endpoint with one answer after the other. It expects exactly as many
    /// calls as there are answers.
    ///
    /// ```swift
    /// stubs.on(GetUser.self, inOrder: .status(.serviceUnavailable), .value(ada))
    /// ```
    @discardableResult
    public func on<Template: RequestTemplate>(
        _ type: Template.Type, inOrder first: StubAnswer<Template>, _ more: StubAnswer<Template>...
    ) -> StubLoader {
        let answers = [first] + more
        return add(type, .exactly(answers.count), nil, nil) { _, turn in answers[min(turn, answers.count - 1)] }
    }

    /// Adds a stub that responds to requests that match a route.
    ///
    /// ```swift
    /// stubs.on(.get("/users/{login}")) { call in .json(User(login: call["login"])) }
    /// ```
    ///
    /// - Parameters:
    ///   - route: the route.
    ///   - times: the expected number of calls. Default: one or more.
    ///   - state: the state of a scenario in which the stub applies. Default: nil (always).
    ///   - answer: returns the answer. An error that it throws fails the request like an error of a transport.
    @discardableResult
    public func on(
        _ route: StubRoute, times: StubTimes = .atLeastOnce, during state: StubState? = nil,
        _ answer: @escaping @Sendable (StubRequest) async throws -> RouteAnswer
    ) -> StubLoader {
        add(route, times, state) { call, _ in try await answer(call) }
    }

    /// Adds a stub that responds to requests that match a route with one answer after the other. It expects exactly as
    /// many calls as there are answers.
    @discardableResult
    public func on(_ route: StubRoute, inOrder first: RouteAnswer, _ more: RouteAnswer...) -> StubLoader {
        let answers = [first] + more
        return add(route, .exactly(answers.count), nil) { _, turn in answers[min(turn, answers.count - 1)] }
    }

    /// The answer to a request that matches a ``StubRoute``.
    public typealias RouteAnswer = StubAnswer<AnyTemplate<HTTPResponse>>

    private func add<Template: RequestTemplate>(
        _ type: Template.Type, _ times: StubTimes, _ condition: (@Sendable (Template) -> Bool)?, _ state: StubState?,
        _ answer: @escaping @Sendable (Template, Int) async throws -> StubAnswer<Template>
    ) -> StubLoader {
        let name = StubInput.name(of: type)
        let stub = Stub(name: name, times: times, state: state, route: nil) { input in
            guard let template = input.template(as: type) else { return [input.isNot(name)] }
            guard condition?(template) == false else { return [] }
            return [Stub.Difference(weight: 2, text: "its condition is false for the template")]
        } respond: { input, turn in
            guard let template = input.template(as: type) else { throw CancellationError() }
            return try await answer(template, turn).respond(input)
        }
        board.add(stub)
        return self
    }

    private func add(
        _ route: StubRoute, _ times: StubTimes, _ state: StubState?,
        _ answer: @escaping @Sendable (StubRequest, Int) async throws -> RouteAnswer
    ) -> StubLoader {
        let stub = Stub(name: "\(route)", times: times, state: state, route: route) { input in
            route.differences(from: input)
        } respond: { input, turn in
            let call = StubRequest(
                request: input.request, parameters: route.captures(in: input.path) ?? [:], bytes: input.body)
            return try await answer(call, turn).respond(input)
        }
        board.add(stub)
        return self
    }
}

extension StubInput {
    /// Returns the template of the request. The request of a redirect has none, because the server has chosen its URL.
    func template<Template: RequestTemplate>(as type: Template.Type) -> Template? {
        request.isRedirected ? nil : request.template(as: type)
    }

    fileprivate func isNot(_ name: String) -> Stub.Difference {
        let sent = request.isRedirected ? "a redirect" : name == self.name ? "another type" : self.name
        return Stub.Difference(weight: 10, text: "the request is of \(sent), not of \(name)")
    }
}

// SPDX-License-Identifier: MIT
public import Letterhead

// The attributes and the generic parameters serve the compiler's messages, as in the functions that add stubs.

extension StubLoader {
    /// Replaces the stubs of an endpoint with one that returns values of its `Response`. Use it in a test that needs
    /// another response than the stubs that all tests share.
    ///
    /// ```swift
    /// stubs.on(GetUser.self, times: .any) { template in User(login: template.login) }   // for all tests
    /// stubs.override(GetUser.self) { _ in .status(.notFound) }                          // for this test
    /// ```
    ///
    /// All earlier stubs of the same type, whatever their conditions are, respond to no further request and are not
    /// verified. The new stub takes the place of the first of them; if there is none, it precedes all other stubs.
    /// Recorded calls are kept. Stubs of a template and of a route are replaced in the same way, by an equal template or
    /// route.
    ///
    /// - Parameters:
    ///   - type: the type of the endpoint. Decorators around it are ignored.
    ///   - times: the expected number of calls. Default: one or more.
    ///   - answer: returns the value. An error that it throws fails the request like an error of a transport.
    @_disfavoredOverload
    @discardableResult
    public func override<Template: RequestTemplate>(
        _ type: Template.Type, times: StubTimes = .atLeastOnce,
        _ answer: @escaping @Sendable (Template) async throws -> Template.Response
    ) -> StubLoader {
        override(Stub(of: type, times, nil) { template, _ in .value(try await answer(template)) })
    }

    /// Replaces the stubs of an endpoint with one that returns any ``StubAnswer``.
    @discardableResult
    public func override<Template: RequestTemplate>(
        _ type: Template.Type, times: StubTimes = .atLeastOnce,
        _ answer: @escaping @Sendable (Template) async throws -> StubAnswer<Template>
    ) -> StubLoader {
        override(Stub(of: type, times, nil) { template, _ in try await answer(template) })
    }

    /// Replaces the stubs of a template with one that returns a value of its `Response`: `stubs.override(.user("ada")) {
    /// _ in grace }`. Templates are equal if the method, the path, the query and the body of their requests are.
    @_disfavoredOverload
    @discardableResult
    public func override<Template: RequestTemplate, Response, Failure>(
        _ template: Template, times: StubTimes = .atLeastOnce,
        _ answer: @escaping @Sendable (Template) async throws -> Template.Response
    ) -> StubLoader where Template.Response == Response, Template.Failure == Failure {
        override(Stub(of: template, times, nil) { template, _ in .value(try await answer(template)) })
    }

    /// Replaces the stubs of a template with one that returns any ``StubAnswer``.
    @discardableResult
    public func override<Template: RequestTemplate, Response, Failure>(
        _ template: Template, times: StubTimes = .atLeastOnce,
        _ answer: @escaping @Sendable (Template) async throws -> StubAnswer<Template>
    ) -> StubLoader where Template.Response == Response, Template.Failure == Failure {
        override(Stub(of: template, times, nil) { template, _ in try await answer(template) })
    }

    /// Replaces the stubs of an equal route.
    @discardableResult
    public func override(
        _ route: StubRoute, times: StubTimes = .atLeastOnce,
        _ answer: @escaping @Sendable (StubRequest) async throws -> RouteAnswer
    ) -> StubLoader {
        override(Stub(of: route, times, nil) { call, _ in try await answer(call) })
    }

    private func override(_ stub: Stub) -> StubLoader {
        board.add(stub, isOverride: true)
        return self
    }
}

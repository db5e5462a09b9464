// SPDX-License-Identifier: MIT
public import Letterhead

extension StubLoader {
    /// The received requests, in order, including those that no stub answered.
    public var requests: [HTTPRequest] { board.records.map(\.input.request) }

    /// All calls, in order, including those that no stub answered. A plain request has no template.
    public var calls: [StubCall<(any RequestTemplate)?>] {
        board.records.map { $0.call($0.input.request.template.map { $0.root }) }
    }

    /// An endpoint's calls, in order.
    ///
    /// ```swift
    /// #expect(stubs.calls(of: GetUser.self).count == 2)
    /// #expect(stubs.calls(of: DeleteUser.self).isEmpty)
    /// ```
    public func calls<Template: RequestTemplate>(of type: Template.Type) -> [StubCall<Template>] {
        board.records.compactMap { record in record.input.template(as: type).map { record.call($0) } }
    }

    /// One endpoint's calls: those with the same method, path, query and body as a template's request.
    ///
    /// ```swift
    /// #expect(stubs.calls(of: .user("ada")).count == 1)
    /// ```
    public func calls<Template: RequestTemplate>(of template: Template) -> [StubCall<Template>] {
        guard let parts = try? StubTemplate(template) else { return [] }
        return board.records.filter { parts.differences(from: $0.input).isEmpty }.map { record in
            record.call(record.input.template(as: Template.self) ?? template)
        }
    }

    /// The requests that a route's stubs answered, in order.
    public func calls(of route: StubRoute) -> [StubCall<(any RequestTemplate)?>] {
        board.records.filter { $0.subject == .route(route) }.map { $0.call($0.input.request.template.map { $0.root }) }
    }

    /// Waits until an endpoint has `count` calls, and returns its calls.
    ///
    /// ```swift
    /// let task = Task { try await model.refresh() }
    /// try await stubs.waitForCalls(of: GetUser.self)
    /// ```
    ///
    /// A call counts when its request arrives. If a test could hang here, give it a time limit.
    ///
    /// - Parameters:
    ///   - count: how many calls to wait for. Default: 1.
    ///   - type: the endpoint's type.
    /// - Throws: `CancellationError` if the calling task is cancelled.
    @discardableResult
    public func waitForCalls<Template: RequestTemplate>(
        _ count: Int = 1, of type: Template.Type
    ) async throws -> [StubCall<Template>] {
        try await board.wait { calls(of: type).count >= count }
        return calls(of: type)
    }

    /// Throws an error if a stub was called less often than expected, or if there was a request that no stub answered.
    ///
    /// A stub for a type such as `Get<User>` answers every endpoint with that type. If it has no `where:` and has
    /// answered requests with different routes, this is an error as well, because a test wouldn't notice that it
    /// received another endpoint's response.
    ///
    /// - Throws: ``StubViolations``, which describes each violation.
    public func verify() throws(StubViolations) {
        let violations = board.violations
        if !violations.isEmpty { throw StubViolations(violations: violations) }
    }
}

/// The missing calls and unexpected requests that ``StubLoader/verify()`` has found.
public struct StubViolations: Error, Sendable, CustomStringConvertible {
    /// One sentence for each violation: first the stubs in order, then the requests.
    public let violations: [String]

    /// One line for each violation.
    public var description: String { violations.joined(separator: "\n") }
}

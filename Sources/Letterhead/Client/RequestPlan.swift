// SPDX-License-Identifier: MIT

/// Several requests that lead to one value: one after the other, at the same time, or one instead of another.
///
/// Build a plan from templates with `then(_:)`, `and(_:)` and `or(_:)`, and send it as you send a template:
///
/// ```swift
/// let followers = try await client.send(GetUser(login: "ada").then { ListFollowers(login: $0.login) })
/// let (user, news) = try await client.send(GetUser(login: "ada").and(GetNews()))
/// let user = try await client.send(GetUser(login: "ada").or(GetArchivedUser(login: "ada")))
/// ```
///
/// Each request has its own settings, and passes the whole chain, so it is retried, cached and stubbed on its own.
/// The plan as a whole:
///
/// - has one ``deadline(in:)``, which no request, wait or retry exceeds. Default: the deadline of the client, if it is
///   derived with ``HTTPClient/deadline(in:)``.
/// - ends with `.cancelled` when the client is reset; no further request is sent.
/// - is one group for observers: each request has the kind `part`, and the first one is the parent of the others.
public struct RequestPlan<Response: Sendable>: Sendable {
    private var limit: Duration?
    private let run: @Sendable (HTTPClient) async throws -> Response

    /// Creates a plan of one request, to combine it further.
    public init(_ template: some RequestTemplate<Response>) { run = { try await $0.send(template) } }

    private init(run: @escaping @Sendable (HTTPClient) async throws -> Response) { self.run = run }

    /// Limits the total time of the plan, in place of the deadline of the client. A limit of zero or less is
    /// `.invalidRequest`, and a plan that exceeds it is `.timedOut`. In a plan that is a part of another one, the earlier
    /// limit applies.
    public func deadline(in limit: Duration) -> RequestPlan {
        var plan = self
        plan.limit = limit
        return plan
    }

    /// Sends another request after this plan, and returns its value; see `then(_:)` of ``RequestTemplate``.
    public func then<Next: RequestTemplate>(
        _ next: @escaping @Sendable (Response) async throws -> Next
    ) -> RequestPlan<Next.Response> {
        then { RequestPlan<Next.Response>(try await next($0)) }
    }

    /// Continues with another plan; see `then(_:)` of ``RequestTemplate``.
    public func then<Value>(
        _ next: @escaping @Sendable (Response) async throws -> RequestPlan<Value>
    ) -> RequestPlan<Value> {
        RequestPlan<Value> { client in
            let value = try await values(over: client)
            return try await next(value).values(over: client)
        }
    }

    /// Sends this plan and another one at the same time; see `and(_:)` of ``RequestTemplate``.
    public func and<Other>(_ other: RequestPlan<Other>) -> RequestPlan<(Response, Other)> {
        RequestPlan<(Response, Other)> { client in
            // A group notices the first failure, whichever of the two it is, and cancels the other one.
            try await withThrowingTaskGroup(of: Half<Response, Other>.self) { group in
                group.addTask { .first(try await values(over: client)) }
                group.addTask { .second(try await other.values(over: client)) }
                var (first, second): (Response?, Other?) = (nil, nil)
                for try await half in group {
                    switch half {
                    case .first(let value): first = value
                    case .second(let value): second = value
                    }
                }
                guard let first, let second else { throw CancellationError() }
                return (first, second)
            }
        }
    }

    /// Sends this plan and a request at the same time; see `and(_:)` of ``RequestTemplate``.
    public func and<Other: RequestTemplate>(_ other: Other) -> RequestPlan<(Response, Other.Response)> {
        and(RequestPlan<Other.Response>(other))
    }

    /// Continues with another plan if this one fails; see `or(_:)` of ``RequestTemplate``.
    public func or(_ other: RequestPlan) -> RequestPlan {
        RequestPlan { client in
            do {
                return try await values(over: client)
            } catch {
                try Task.checkCancellation()
                if client.generation.hasEnded { throw error }
                return try await other.values(over: client)
            }
        }
    }

    /// Sends a request if this plan fails; see `or(_:)` of ``RequestTemplate``.
    public func or(_ other: some RequestTemplate<Response>) -> RequestPlan { or(RequestPlan(other)) }

    /// Sends the requests over a client that belongs to this plan.
    ///
    /// - Parameter client: the client, with the generation, the deadline and the group of the outer plan.
    fileprivate func values(over client: HTTPClient) async throws -> Response {
        guard let limit else { return try await run(client) }
        var client = client
        if limit <= .zero {
            throw HTTPError(
                .invalidRequest, request: HTTPRequest(),
                message: "the deadline of a plan is zero or less; use nil for no limit")
        }
        let point = DeadlinePoint(in: limit, on: Timeline(client.context.design.retry.clock))
        if client.context.deadline.map({ $0.timeLeft > limit }) ?? true { client.context.deadline = point }
        return try await run(client)
    }
}

private enum Half<First: Sendable, Second: Sendable>: Sendable {
    case first(First)
    case second(Second)
}

extension HTTPClient {
    /// Sends the requests of a plan, and returns its value.
    ///
    /// - Throws: the errors of ``send(_:)-(Template)``, and those of the closures of the plan.
    @discardableResult
    public func send<Value>(_ plan: RequestPlan<Value>) async throws -> Value {
        let defaults = context.defaults.options
        let standard = defaults.contains(DeadlineOption.self) ? defaults.deadline : nil
        return try await plan.limited(to: standard).values(over: pinned(asOneOf: "part"))
    }
}

extension RequestPlan {
    fileprivate func limited(to standard: Duration?) -> RequestPlan {
        guard limit == nil, let standard else { return self }
        return deadline(in: standard)
    }
}

extension RequestTemplate {
    /// Sends another request that needs the value of this one, and returns its value.
    ///
    /// ```swift
    /// GetUser(login: "ada").then { user in ListFollowers(login: user.login) }
    /// ```
    ///
    /// If the first request or the closure fails, nothing else is sent.
    public func then<Next: RequestTemplate>(
        _ next: @escaping @Sendable (Response) async throws -> Next
    ) -> RequestPlan<Next.Response> {
        RequestPlan(self).then(next)
    }

    /// Continues with a plan that needs the value of this request.
    public func then<Value>(
        _ next: @escaping @Sendable (Response) async throws -> RequestPlan<Value>
    ) -> RequestPlan<Value> {
        RequestPlan(self).then(next)
    }

    /// Sends this request and another one at the same time, and returns both values. If one fails, the other one is
    /// cancelled, and its error is thrown.
    public func and<Other: RequestTemplate>(_ other: Other) -> RequestPlan<(Response, Other.Response)> {
        RequestPlan(self).and(other)
    }

    /// Sends this request and a plan at the same time, and returns both values.
    public func and<Other>(_ other: RequestPlan<Other>) -> RequestPlan<(Response, Other)> {
        RequestPlan(self).and(other)
    }

    /// Sends another request if this one fails for any reason other than a cancellation or a reset. If that one fails,
    /// too, its error is thrown.
    public func or(_ other: some RequestTemplate<Response>) -> RequestPlan<Response> { RequestPlan(self).or(other) }

    /// Continues with a plan if this request fails.
    public func or(_ other: RequestPlan<Response>) -> RequestPlan<Response> { RequestPlan(self).or(other) }
}

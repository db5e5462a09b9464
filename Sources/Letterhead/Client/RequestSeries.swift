// SPDX-License-Identifier: MIT

extension HTTPClient {
    /// Begins a series of requests that belong together.
    ///
    /// If you call it on the client of a series, the new series belongs to the same period between two resets, and the
    /// earlier of the two deadlines applies.
    ///
    /// - Parameters:
    ///   - limit: the time for all requests and waits, counted from now. A streamed body counts until it was read. With
    ///     zero or less, each request fails with `.invalidRequest`. Default: nil (no limit).
    ///   - kind: what each request is, such as `page`, for observers. Default: nil (the requests are unrelated).
    ///   - clock: the clock for the waits and the limit. Default: the clock of the client.
    public func series(
        within limit: Duration? = nil, kind: String? = nil, clock: (any Clock<Duration>)? = nil
    ) -> RequestSeries {
        let clock = clock ?? parts.retry.clock
        let deadlines = [sequence?.deadline, limit.map { DeadlinePoint(in: $0, on: Timeline(clock)) }]
        let family = sequence?.family ?? kind.flatMap { parts.hub == nil ? nil : LoadFamily(kind: $0) }
        var client = self
        client.sequence = Series(
            family: family, generation: generation,
            deadline: deadlines.compactMap(\.self).min { $0.timeLeft < $1.timeLeft },
            isInvalid: sequence?.isInvalid == true || limit.map { $0 <= .zero } == true)
        return RequestSeries(client: client, clock: clock)
    }

    /// What the requests of a series have in common.
    struct Series: Sendable {
        let family: LoadFamily?
        let generation: ClientGeneration
        let deadline: DeadlinePoint?
        /// Whether a limit is zero or less.
        let isInvalid: Bool

        func brokenRule(for request: @autoclosure () throws -> HTTPRequest) rethrows -> HTTPError? {
            guard isInvalid else { return nil }
            let rule = "the deadline of the series is zero or less (use nil for no limit)"
            return HTTPError(.invalidRequest, request: try request(), message: rule, mayHaveBeenSent: false)
        }
    }

    /// The generation of new requests.
    var generation: ClientGeneration { sequence?.generation ?? parts.identity.generation }
}

/// Requests that belong together, such as those for the pages of a list. One reset ends all of them, and one deadline
/// limits them.
///
/// ```swift
/// let series = client.series(within: .seconds(60))
/// var job = try await series.client.send(GetJob(id: 7))
/// while !job.isDone {
///     try await series.pause(for: .seconds(2))
///     job = try await series.client.send(GetJob(id: 7))
/// }
/// ```
///
/// Use a series for a loop of requests, such as polling or a custom page sequence. Without it, a loop that runs during
/// ``HTTPClient/reset()`` continues with the credentials of the next user. Create it with
/// ``HTTPClient/series(within:kind:clock:)``.
///
/// - After a reset of the client, each request and each wait of the series fails with `.cancelled`, and requests in
///   flight end. A value that arrived earlier belongs to the previous user: check ``generation`` before you deliver it.
/// - After the deadline, each request fails with `.timedOut`. A wait that would end later throws this error at once.
public struct RequestSeries: Sendable {
    /// Sends the requests of the series. It is derived from the client that began the series.
    public let client: HTTPClient
    private let clock: any Clock<Duration>

    fileprivate init(client: HTTPClient, clock: any Clock<Duration>) { (self.client, self.clock) = (client, clock) }

    /// The period between two resets of the client in which the series began.
    public var generation: ClientGeneration { client.generation }

    /// Waits before the next request.
    ///
    /// - Parameters:
    ///   - duration: the time to wait. With zero, the call returns at once, unless one of the errors below applies.
    ///   - failure: the error of the previous request, if the next request retries it. If the deadline passes before,
    ///     it is the underlying error. Default: nil.
    ///   - request: the next request, for errors. Default: an empty request.
    /// - Throws: ``HTTPError``: `.timedOut` if the deadline passes before the wait ends, `.cancelled` after a reset,
    ///   and `.invalidRequest` if the limit of the series is zero or less. `CancellationError` if the calling task was
    ///   cancelled.
    public func pause(
        for duration: Duration, after failure: HTTPError? = nil,
        before request: @autoclosure () throws -> HTTPRequest = HTTPRequest()
    ) async throws {
        if let error = try client.sequence?.brokenRule(for: request()) { throw error }
        if let deadline = client.sequence?.deadline, deadline.timeLeft <= duration {
            throw HTTPError(
                .timedOut, request: try failure?.request ?? request(), response: failure?.response,
                underlying: failure, message: "the deadline passes before the next request",
                mayHaveBeenSent: failure?.mayHaveBeenSent ?? false)
        }
        try await generation.pause(
            for: duration, on: clock, orThrow: try request().resetError(mayHaveBeenSent: false))
    }

    /// Returns the request that a template is sent as, with the settings of the client. Use it for errors, and to
    /// decide whether it may be sent again. The links of the client add the environment later.
    ///
    /// - Throws: `.invalidRequest` if the request cannot be built.
    public func request(for template: some RequestTemplate) throws(HTTPError) -> HTTPRequest {
        try client.sendable(template).adoptedRequest()
    }
}

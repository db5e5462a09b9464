public import Letterhead
import Synchronization

/// A loader that responds from a script, without a network.
///
/// ```swift
/// let mock = MockLoader { request in try .ok(request, json: User(id: 3, login: "mock")) }
/// let client = HTTPClient(environment: local, transport: mock)
///
/// let script = MockLoader()
///     .then { request in HTTPResponse(request: request, status: 503) }
///     .then { request in try .ok(request, json: user) }
/// ```
///
/// Each response of the script is used once, in order. After the last one, the default handler responds. Without a
/// default handler the request fails with `.cannotConnect`, and the error names the request. Requests are validated as
/// by a transport, including replayable bodies, and recorded in ``requests``. A handler may be async, observes the
/// cancellation of its task, and may throw: the caller receives the error as from a transport. A download is saved to
/// its file, and the `responseLimit` is enforced, including its default.
///
/// The time limits of a request are enforced: `timeout`, `deadline` and `idleTimeout` end the request with `.timedOut`,
/// and the handler's task is cancelled. Pass a ``TestClock`` to control the time.
public final class MockLoader: HTTPLoader {
    // A class, because all references share one script and one record.

    /// Responds to one request.
    public typealias Handler = @Sendable (HTTPRequest) async throws -> HTTPResponse

    private struct State {
        var script: [Handler] = []
        var requests: [HTTPRequest] = []
    }

    private let fallback: Handler?
    private let clock: any Clock<Duration>
    private let state = Mutex(State())

    /// Creates a loader.
    ///
    /// - Parameters:
    ///   - clock: measures the time limits of requests. Default: the continuous clock.
    ///   - fallback: responds after the script has ended. Default: nil (the request fails).
    public init(clock: any Clock<Duration> = ContinuousClock(), _ fallback: Handler? = nil) {
        (self.clock, self.fallback) = (clock, fallback)
    }

    /// Appends a response to the script.
    @discardableResult
    public func then(_ handler: @escaping Handler) -> MockLoader {
        state.withLock { $0.script.append(handler) }
        return self
    }

    /// The requests that were received, in order.
    public var requests: [HTTPRequest] { state.withLock { $0.requests } }

    /// The number of responses of the script that have not been used.
    public var unused: Int { state.withLock { $0.script.count } }

    /// Responds with the script, then with the default handler.
    public func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try request.validate()
        if request.body.isReplayable { _ = try request.framedBody() }
        if Task.isCancelled { throw HTTPError(.cancelled, request: request, mayHaveBeenSent: false) }
        let scripted = state.withLock { state -> Handler? in
            state.requests.append(request)
            return state.script.isEmpty ? nil : state.script.removeFirst()
        }
        guard let handler = scripted ?? fallback else {
            throw HTTPError(
                .cannotConnect, request: request,
                message:
                    "the MockLoader has no answer left for \(request.method) \(request.redaction.outline(of: request))")
        }
        var response = try await response(to: request, by: handler)
        // A streamed body remains a stream unless the request specifies another delivery, so that tests can observe it.
        let isLeftAlone =
            request.responseDelivery == .buffered && response.body.buffered == nil
            && !request.hasResponseLimit
        guard isLeftAlone else { return try await response.delivered(to: request) }
        do {
            response.body = try response.body.limited(to: request.responseLimit, response: response)
        } catch {
            throw HTTPError(error, request: request)
        }
        return response
    }

    private func response(
        to request: HTTPRequest, by handler: @escaping Handler
    ) async throws(HTTPError) -> HTTPResponse {
        do {
            guard let time = MockTime(request, clock: clock) else { return try await handler(request) }
            return time.timing(try await time.head { try await handler(request) })
        } catch {
            throw HTTPError(error, request: request)
        }
    }
}

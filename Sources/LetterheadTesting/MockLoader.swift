public import Letterhead
import Synchronization

/// Answers requests by a script, without a network.
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
/// Answers of the script are used once each, in order; behind the last one the default handler answers, and without one
/// the load fails with `.cannotConnect`, naming the request, so that nothing passes unnoticed. Requests are checked as a
/// transport checks them, their bodies too unless they can be had only once, and kept in ``requests``. A handler may be
/// async, sees the cancellation of its task, and may throw: the error reaches the caller as a transport's would. A download
/// is saved to its file as a transport saves it, and a `responseLimit` that was set holds.
///
/// The time limits of a request hold: `timeout`, `deadline` and `idleTimeout` end the load with `.timedOut`, and the task of
/// the handler is cancelled. Give the loader a ``TestClock`` to move the time yourself.
public final class MockLoader: HTTPLoader {
    // A class, because all who hold it must see one script and one record.

    /// Answers one request.
    public typealias Handler = @Sendable (HTTPRequest) async throws -> HTTPResponse

    private struct State {
        var script: [Handler] = []
        var requests: [HTTPRequest] = []
    }

    private let fallback: Handler?
    private let clock: any Clock<Duration>
    private let state = Mutex(State())

    /// Makes a loader.
    ///
    /// - Parameters:
    ///   - clock: measures the time limits of requests. Default: the continuous clock.
    ///   - fallback: answers when the script is at its end. Default: nil, such a load fails.
    public init(clock: any Clock<Duration> = ContinuousClock(), _ fallback: Handler? = nil) {
        (self.clock, self.fallback) = (clock, fallback)
    }

    /// Adds an answer at the end of the script.
    @discardableResult
    public func then(_ handler: @escaping Handler) -> MockLoader {
        state.withLock { $0.script.append(handler) }
        return self
    }

    /// The requests that arrived, in order.
    public var requests: [HTTPRequest] { state.withLock { $0.requests } }

    /// How many answers of the script were not asked for.
    public var unused: Int { state.withLock { $0.script.count } }

    /// Answers by the script, then by the default handler.
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
        let response = try await response(to: request, by: handler)
        // A body that still arrives stays a stream unless the request asks for something else, so that tests can watch it.
        let isLeftAlone =
            request.responseDelivery == .buffered && response.body.buffered == nil
            && !request.hasResponseLimit
        return isLeftAlone ? response : try await response.delivered(to: request)
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

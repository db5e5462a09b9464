// SPDX-License-Identifier: MIT
public import LetterheadFoundation
public import Letterhead
import Synchronization

/// A loader that responds with closures, without a network.
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
/// ``then(_:)`` adds a handler to the script. Each handler in the script responds once, in order. After the last one,
/// the default handler responds to every request. Without a default handler, the request fails with `.cannotConnect`,
/// and the error names the request.
///
/// A handler can wait, and its task is cancelled with the request. If it throws an error, the caller receives this
/// error as from a transport.
///
/// In other respects, the loader behaves like a transport:
///
/// - It validates requests, including their replayable bodies, and records valid ones in ``requests``.
/// - It saves a download to its file, and enforces the `responseLimit`, including its default.
/// - If the `timeout`, `deadline` or `idleTimeout` of a request passes, it fails the request with `.timedOut` and
///   cancels the handler task. Pass a ``TestClock`` to control the time.
public final class MockLoader: HTTPLoader {
    // This type is a class because all references share one script and one record.

    /// A function that responds to one request.
    public typealias Handler = @Sendable (HTTPRequest) async throws -> HTTPResponse

    private struct State {
        var script: [Handler] = []
        var requests: [HTTPRequest] = []
    }

    private let fallback: Handler?
    private let exchange: MockExchange
    private let state = Mutex(State())

    /// Creates a loader.
    ///
    /// - Parameters:
    ///   - clock: measures request time limits. Default: the continuous clock.
    ///   - fallback: the default handler, which responds after the script has ended. Default: nil (the request fails).
    public init(clock: any Clock<Duration> = ContinuousClock(), _ fallback: Handler? = nil) {
        self.fallback = fallback
        exchange = MockExchange(clock: clock)
    }

    /// Adds a handler to the end of the script.
    @discardableResult
    public func then(_ handler: @escaping Handler) -> MockLoader {
        state.withLock { $0.script.append(handler) }
        return self
    }

    /// The received requests, in order.
    public var requests: [HTTPRequest] { state.withLock { $0.requests } }

    /// How many handlers in the script are unused.
    public var unused: Int { state.withLock { $0.script.count } }

    /// Responds with the next handler in the script, or with the default handler.
    public func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try exchange.check(request)
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
        return try await exchange.load(request, by: handler)
    }
}

extension HTTPResponse {
    /// Returns a `200 OK` response with a value as JSON.
    public static func ok(
        _ request: HTTPRequest, json value: some Encodable, encoder: JSONEncoder = JSONEncoder()
    ) throws -> HTTPResponse {
        HTTPResponse(
            request: request, status: .ok, headers: ["Content-Type": "application/json"],
            body: HTTPResponseBody(try encoder.encode(value)))
    }

    /// Returns a `200 OK` response with bytes. Default: an empty body.
    public static func ok(_ request: HTTPRequest, body: Data = Data()) -> HTTPResponse {
        HTTPResponse(request: request, status: .ok, body: HTTPResponseBody(body))
    }
}

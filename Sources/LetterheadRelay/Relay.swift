// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation
import Synchronization

/// Sends requests through a different process or device, such as the phone of a watch. This transport writes each
/// request as data, passes the data to a closure, and reads the response from the data that the closure returns. At the
/// other end, a ``RelayServer`` answers.
///
/// ```swift
/// // on a watch
/// let client = HTTPClient(environment: .production, transport: Relay { data in try await phone.send(data) })
/// // on the phone
/// let server = RelayServer(Authenticate(.bearer(token)) --> CookieJar() --> HTTPClient.defaultTransport)
/// reply(await server.answer(data))
/// ```
///
/// The relay can end any chain. The links of the near chain see each request before it travels, and the links of the
/// far chain see it before the server receives it. The environment may be at either end. ``WireForm`` determines what
/// travels.
///
/// - The response is in memory while it travels, and may have 64 MiB unless the request sets `responseLimit`. Use
///   ``streaming(_:clock:_:)`` for larger ones. Downloads are saved at the near end.
/// - The request ends at once when its task is cancelled, when its `timeout` or its deadline passes, or when its
///   streamed body is dropped. The relay then cancels the task that runs the closure, and sends a message that cancels
///   the request at the far end. Reading a streamed body also fails with `.timedOut` if no bytes arrive for the
///   `idleTimeout` of the request.
/// - ``reset()`` ends the requests in progress with `.cancelled`, and resets the far chain by a message. It returns
///   when the closure has returned the answer to this message, so let the closure end if it can't reach the other
///   device.
/// - An error at the far end keeps its code, message, response and `mayHaveBeenSent`. If the closure throws an
///   `HTTPError`, the relay throws it unchanged. Any other error from the closure is `.connectionLost`. A malformed
///   message is `.invalidResponse`.
/// - Deliver each message at most once. The far end refuses a message that it receives again (see ``RelayServer``).
/// - The metrics, attempts, progress and events of the far chain don't travel.
public struct Relay: HTTPLoader, CustomStringConvertible {
    private let chain: any HTTPLoader

    /// Creates a relay with a closure that returns the whole answer, as ``RelayServer/answer(_:)`` does.
    ///
    /// - Parameters:
    ///   - form: determines what travels. Default: no options and no secrets.
    ///   - clock: measures timeouts and deadlines. Default: the continuous clock.
    ///   - exchange: sends the data to the other end and returns its answer. The relay calls it in a task for each
    ///     message, concurrently.
    public init(
        _ form: WireForm = WireForm(), clock: any Clock<Duration> = ContinuousClock(),
        exchange: @escaping @Sendable (Data) async throws -> Data
    ) {
        self = .streaming(form, clock: clock) { data in
            let answer = try await exchange(data)
            return AsyncStream { continuation in
                continuation.yield(answer)
                continuation.finish()
            }
        }
    }

    /// Returns a relay that streams bodies, even very large ones. Its closure returns the answer in pieces, as
    /// ``RelayServer/answers(to:)`` does, and must return them unchanged and in order.
    public static func streaming<Pieces: AsyncSequence & SendableMetatype>(
        _ form: WireForm = WireForm(), clock: any Clock<Duration> = ContinuousClock(),
        _ exchange: @escaping @Sendable (Data) async throws -> Pieces
    ) -> Relay where Pieces.Element == Data {
        let wire = RelayWire(form: form, clock: clock) { data in
            let walk = StreamWalk { try await exchange(data) }
            return { try await walk.next() }
        }
        // A request from a client has its host already.
        return Relay(chain: Autocancel() --> ApplyEnvironment().when { $0.host == nil } --> wire)
    }

    private init(chain: any HTTPLoader) { self.chain = chain }

    public func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse { try await chain.load(request) }

    /// Ends the requests in progress with `.cancelled`, and resets the chain at the other end. Returns when the closure
    /// has returned the answer.
    public func reset() async { await chain.reset() }

    public var description: String { "Relay" }
}

/// Writes requests and reads their answers. The `Autocancel` above it ends the requests in progress at a reset.
private struct RelayWire: HTTPLoader {
    /// Returns the next piece of an answer, or nil at its end.
    typealias Pull = @Sendable () async throws -> Data?

    let form: WireForm
    let clock: any Clock<Duration>
    let open: @Sendable (Data) -> Pull

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        var request = request
        request.headers = request.framedHeaders()
        if let left = request.timeLeft, left <= .zero {
            throw request.deadlinePassed(while: "writing the request", mayHaveBeenSent: false)
        }
        let (sent, id) = (request, UUID().uuidString)
        do {
            return try await wait(within: [sent.timeLeft, sent.timeout].compactMap(\.self).min()) {
                try await response(to: sent, id)
            }
        } catch {
            let error = sent.ofRelay(error)
            if error.code == .cancelled || error.code == .timedOut { cancel(id) }
            throw error
        }
    }

    func reset() async {
        var message = WireMessage()
        message.reset = true
        await send(message)
    }

    private func response(to request: HTTPRequest, _ id: String) async throws -> HTTPResponse {
        let data = try await form.data(of: request, id: id)
        // The request may have ended while its body was read.
        try Task.checkCancellation()
        let next = open(data)
        guard let first = try await next() else { throw request.relayEnded }
        let answer = try form.read(first, for: request)
        var response: HTTPResponse
        do throws(HTTPError) { response = try form.response(answer, to: request) } catch {
            guard error.code == .responseTooLarge, var large = error.response,
                !request.accepts(large.status) || (300..<400).contains(large.status.code)
            else { throw error }
            // The body of such a response is usually discarded, so its status decides.
            let beginning = Mutex(large.body.buffered)
            let pull = { @Sendable () throws -> Data? in
                if let piece = beginning.withLock({ $0.take() }) { return piece } else { throw error }
            }
            large.body = HTTPResponseBody(length: nil, pull: pull, cancel: {})
            return try await large.delivered(to: request)
        }
        if answer.message.streams == true {
            let body = RelayedBody()
            let timeout = request.accepts(response.status) ? nil : request.timeout
            response.provide(metrics: { HTTPResponse.Metrics() }, trailers: { body.trailers.valueNow ?? [:] })
            let pull = { @Sendable () async throws -> Data? in
                do {
                    let limit = [request.timeLeft, request.idleTimeout, timeout].compactMap(\.self).min()
                    return try await wait(within: limit, named: limit == timeout ? "timeout" : "idleTimeout") {
                        var data = try await piece(next, of: body, for: request)
                        // An empty piece isn't activity, so it doesn't restart the time limit.
                        while data?.isEmpty == true { data = try await piece(next, of: body, for: request) }
                        return data
                    }
                } catch {
                    throw request.ofRelay(error)
                }
            }
            response.body = HTTPResponseBody(length: answer.message.length, pull: pull, cancel: { cancel(id) })
        }
        return try await response.delivered(to: request)
    }

    private func piece(_ next: Pull, of body: RelayedBody, for request: HTTPRequest) async throws -> Data? {
        guard let data = try await next() else { throw request.relayEnded }
        let (message, bytes) = try form.read(data, for: request)
        if message.failure != nil { _ = try form.response((message, bytes), to: request) }
        guard let end = message.end else {
            guard message.length != nil, message.response == nil else {
                throw request.malformedAnswer("it is not a piece of the body")
            }
            body.count.wrappingAdd(bytes.count, ordering: .relaxed)
            return bytes
        }
        guard end.count == body.count.load(ordering: .relaxed) else { throw request.relayEnded }
        do { body.trailers.set(try HTTPHeaders(pairs: end.trailers, ofResponse: true)) } catch {
            throw request.malformedAnswer(error.description)
        }
        return nil
    }

    /// Runs code in a task, and waits until it ends, the limit passes, or the calling task is cancelled. In the last
    /// two cases, it cancels the code but doesn't wait for it, because a closure of the caller may never end.
    private func wait<Value: Sendable>(
        within limit: Duration?, named name: String = "timeout",
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let outcome = OneShot<Result<Value, any Error>>()
        let task = Task {
            do { outcome.set(.success(try await operation())) } catch { outcome.set(.failure(error)) }
        }
        return try await outcome.value(within: limit, on: clock) {
            outcome.set(.failure(RelayTimeout(name: name)))
            task.cancel()
        } onCancel: {
            outcome.set(.failure(RelayCancellation()))
            task.cancel()
        }.get()
    }

    /// Cancels a request at the other end. Nothing waits for the answer, because the request has ended here.
    private func cancel(_ id: String) {
        var message = WireMessage()
        message.cancel = id
        Task { [message] in await send(message) }
    }

    private func send(_ message: WireMessage) async { _ = try? await open(message.data())() }
}

/// The byte count and the trailers of a streamed body, which the response and the closure that reads the body share.
private final class RelayedBody: Sendable {
    let count = Atomic(0)
    let trailers = OneShot<HTTPHeaders>()
}

private struct RelayTimeout: Error {
    /// The setting that limits the time, unless the deadline does.
    let name: String
}

/// The calling task was cancelled. It's a separate type, because the closure may throw a `CancellationError` for other
/// reasons.
private struct RelayCancellation: Error {}

extension HTTPRequest {
    fileprivate var relayEnded: HTTPError {
        HTTPError(.connectionLost, request: self, message: "the other end of the relay did not send the whole response")
    }

    fileprivate func ofRelay(_ error: any Error) -> HTTPError {
        let phase = "waiting for the other end of the relay"
        switch error {
        case let error as RelayTimeout:
            let isLate = timeLeft.map { $0 <= .zero } ?? false
            return isLate
                ? deadlinePassed(while: phase)
                : HTTPError(.timedOut, request: self, message: "the \(error.name) passed while \(phase)")
        case is RelayCancellation: return HTTPError(.cancelled, request: self, message: "the task was cancelled")
        case let error as HTTPError where error.code == .cancelled && error.message.isEmpty:
            return HTTPError(
                .cancelled, request: self, message: "the task was cancelled", mayHaveBeenSent: error.mayHaveBeenSent)
        case let error as HTTPError: return error
        default:
            return HTTPError(
                .connectionLost, request: self, underlying: error,
                message: "the relay failed: \(HTTPError.summary(of: error))", mayHaveBeenSent: true)
        }
    }
}

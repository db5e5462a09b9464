import Synchronization

/// A link that shares one load among equal requests that are in flight at the same time.
///
/// ```swift
/// let chain = Authenticate(oauth) --> Deduplicate() --> Throttle(limit: 4) --> HTTPClient.defaultTransport
/// request.deduplication = .never           // never share
/// request.deduplication = .key("settings") // share by key
/// ```
///
/// By default, requests are equal if they have the same safe method, URL, headers, body, credentials, timeouts and
/// ``RequestSettings/responseLimit``. Requests with a key share a load if the key, the origin, the headers and the
/// identity are equal. The identity consists of every secret query item, the authentication and the environment. The
/// body is also compared if the request is ``RequestSettings/isSecret``. Headers in `ignoring` may differ. Secret
/// headers are always compared: those with a secret name (see ``Redaction``), and those set by
/// ``HTTPHeaders/setSecret(_:for:)``.
///
/// A request stops waiting when its own task is cancelled or its own deadline passes. When no request waits for the
/// load any longer, the load is cancelled. In the response that a request receives, ``HTTPResponse/request`` is this
/// request, and ``HTTPResponse/sharedFrom`` identifies the request that was sent. Failures are shared. No response is
/// stored after the load has ended. Streamed bodies are not shared.
///
/// Put it below all links that change requests, so that it compares what is sent: below redirects, environment and
/// authentication.
public final class Deduplicate: LoaderLink {
    // This type is a class because all requests share one list of loads.

    private let state = Mutex(SharedLoads())
    private let ignored: Set<HTTPHeaders.Name>
    private let clock: any Clock<Duration>

    /// Creates the link.
    ///
    /// - Parameters:
    ///   - ignored: the headers that are not compared, such as a header with a new value in each request. Secret
    ///     headers are always compared. Default: none.
    ///   - clock: measures deadlines. Default: the continuous clock.
    public init(ignoring ignored: Set<HTTPHeaders.Name> = [], clock: any Clock<Duration> = ContinuousClock()) {
        self.ignored = ignored
        self.clock = clock
    }

    /// The number of loads that are running.
    public var running: Int { state.withLock { $0.running } }

    /// The number of requests that wait for these loads.
    public var waiting: Int { state.withLock { $0.waiting } }

    /// Sends the request, or waits for the load of an equal one.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard let key = DeduplicationKey(request, ignoring: ignored) else { return try await next.load(request) }
        if Task.isCancelled { throw HTTPError(.cancelled, request: request, mayHaveBeenSent: false) }
        let left = request.timeLeft
        if let left, left <= .zero { throw request.deadlinePassed(while: Self.phase, mayHaveBeenSent: false) }
        let waiter = SharedLoads.Waiter()
        // The load has no deadline, because each request that waits for it has its own.
        let place = state.withLock {
            $0.join(key, waiter) { OwnedWork() }
        }
        if let observation = request.observation {
            observation.record(place.isFirst ? .deduplicationLed : .deduplicationJoined)
        }
        if place.isFirst {
            let sent = request.withoutDeadline
            place.load.start { [self] in await run(place.load, sending: sent, to: next) }
            if let outcome = waiter.valueNow { return try await result(of: outcome, for: request, next: next) }
        } else {
            place.load.escalate(to: Task.currentPriority)
        }
        let leave = { @Sendable [self] (outcome: SharedLoads.Outcome) -> Void in
            let (waiter, isLast) = state.withLock { $0.leave(place) }
            waiter?.set(outcome)
            if isLast { place.load.cancel() }
        }
        let outcome = await waiter.value(
            within: left, on: clock, onTimeout: { leave(.tooLate) }, onCancel: { leave(.cancelled) })
        return try await result(of: outcome, for: request, next: next)
    }

    /// Cancels the running loads, waits until they have ended, and resets the links below.
    public func reset(next: any HTTPLoader) async {
        let loads = state.withLock { $0.all }
        for load in loads { load.cancel() }
        // Two loads that reset the chain must not wait for each other.
        if !loads.contains(where: \.containsCaller) {
            for load in loads { await load.ended() }
        }
        await next.reset()
    }

    private static let phase = "waiting for an equal request"

    private func result(
        of outcome: SharedLoads.Outcome, for request: HTTPRequest, next: any HTTPLoader
    ) async throws(HTTPError) -> HTTPResponse {
        switch outcome {
        case .cancelled: throw HTTPError(.cancelled, request: request)
        case .tooLate: throw request.deadlinePassed(while: Self.phase)
        case .notShared: return try await next.load(request)
        case .result(.failure(let error)): throw error.with(request: request)
        case .result(.success(var response)):
            if response.request.id == request.id {
                if request.hasDeadline { response.request.shareDeadline(of: request) }
            } else {
                if let observation = request.observation {
                    observation.record(.deduplicationShared) {
                        $0[.sharedLoad] = response.request.observation?.load
                    }
                }
                response.sharedFrom = response.request.id
                // A link above sees by the headers and the query whether a link below has added a credential.
                var sent = request
                (sent.headers, sent.query) = (response.request.headers, response.request.query)
                response.request = sent
            }
            return response
        }
    }
}

extension Deduplicate {
    /// Sends a shared request, and passes the result to all requests that wait for it. When the last waiting request
    /// leaves, the load is cancelled.
    private func run(_ load: OwnedWork, sending request: HTTPRequest, to next: any HTTPLoader) async {
        let result: Result<HTTPResponse, HTTPError>
        do throws(HTTPError) {
            result = .success(try await next.load(request))
        } catch {
            result = .failure(error)
        }
        let ended = state.withLock { $0.finish(load) }
        for (index, waiter) in ended.waiters.enumerated() {
            waiter.set(result.isStreamed && index > 0 ? .notShared : .result(result))
        }
    }
}

extension Result<HTTPResponse, HTTPError> {
    fileprivate var isStreamed: Bool {
        if case .success(let response) = self { response.body.buffered == nil } else { false }
    }
}

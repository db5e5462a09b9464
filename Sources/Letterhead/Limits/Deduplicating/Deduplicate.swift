import Synchronization

/// Lets equal requests that are in flight at the same time share one load.
///
/// ```swift
/// let chain = Authenticate(oauth) --> Deduplicate() --> Throttle(limit: 4) --> HTTPClient.defaultTransport
/// request.deduplication = .never           // on its own
/// request.deduplication = .key("settings") // with others of this key
/// ```
///
/// Equal are requests of the same safe method, URL, headers, body and credentials. With a key, requests share when the key,
/// the origin and the identity are equal: every secret header and query item, the authentication and the environment. A
/// header is secret by its name (see ``Redaction``), or when it was set by ``HTTPHeaders/setSecret(_:for:)``. The load belongs to all who wait: it is
/// cancelled when the last of them leaves, and each leaves when its own task is cancelled or its own deadline passes. Each
/// gets the response labelled with its own request; ``HTTPResponse/sharedFrom`` names the one that was sent. Failures are
/// shared, and nothing is kept when the load is over. Streamed bodies are not shared.
///
/// Put it behind whatever changes requests, so that it compares what is sent: redirects, environment, authentication.
public final class Deduplicate: LoaderLink {
    // A class, because all requests must see one list of loads.

    private let state = Mutex(SharedLoads())
    private let ignored: Set<HTTPHeaders.Name>
    private let clock: any Clock<Duration>

    /// Makes the link.
    ///
    /// - Parameters:
    ///   - ignored: headers in which equal requests may differ, such as one with a fresh value each time. Secret headers
    ///     are compared all the same. Default: none.
    ///   - clock: measures deadlines. Default: the continuous clock.
    public init(ignoring ignored: Set<HTTPHeaders.Name> = [], clock: any Clock<Duration> = ContinuousClock()) {
        self.ignored = ignored
        self.clock = clock
    }

    /// How many loads run now.
    public var running: Int { state.withLock { $0.running } }

    /// How many requests wait for them.
    public var waiting: Int { state.withLock { $0.waiting } }

    /// Has the request answered, by a load that runs already if there is an equal one.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard let key = DeduplicationKey(request, ignoring: ignored) else { return try await next.load(request) }
        if Task.isCancelled { throw HTTPError(.cancelled, request: request, mayHaveBeenSent: false) }
        let left = request.timeLeft
        if let left, left <= .zero { throw request.deadlinePassed(while: Self.phase, mayHaveBeenSent: false) }
        let waiter = SharedLoads.Waiter()
        // Each waiter keeps its own deadline, so the load itself has none.
        let place = state.withLock {
            $0.join(key, waiter) { OwnedLoad(request.withoutDeadline, next: next, owner: self) }
        }
        if place.isFirst {
            place.load.start()
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

    /// Cancels what runs, waits until it has ended, and resets what is below.
    public func reset(next: any HTTPLoader) async {
        let others = state.withLock { $0.all }.filter { !$0.cancelsCaller() }
        for load in others { await load.ended() }
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
                if request.hasDeadline { response.request.returnDeadline(of: request) }
            } else {
                response.sharedFrom = response.request.id
                response.request = request
            }
            return response
        }
    }
}

extension Deduplicate: LoadOwner {
    /// Tells all who wait. They own the load, and cancel it when the last of them leaves.
    func end(_ load: OwnedLoad, with result: Result<HTTPResponse, HTTPError>) -> Result<HTTPResponse, HTTPError>? {
        let waiters = state.withLock { $0.finish(load) }
        waiters.first?.set(.result(result))
        for waiter in waiters.others { waiter.set(result.isStreamed ? .notShared : .result(result)) }
        return nil
    }
}

extension Result<HTTPResponse, HTTPError> {
    fileprivate var isStreamed: Bool {
        if case .success(let response) = self { response.body.buffered == nil } else { false }
    }
}

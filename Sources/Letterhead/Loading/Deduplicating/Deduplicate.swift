import Synchronization

/// Lets equal requests that are in flight at the same time share one load.
///
/// ```swift
/// let chain = Authenticate(oauth) --> Deduplicate() --> Throttle(limit: 4) --> HTTPClient.defaultTransport
/// request.deduplication = .never           // on its own
/// request.deduplication = .key("settings") // with others of this key
/// ```
///
/// Equal are requests of the same safe method, URL, headers, body and credentials. The load belongs to all who wait: it is
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
    ///   - ignored: headers in which equal requests may differ, such as one with a fresh value each time. Default: none.
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
        let left = request.timeLeft
        if let left, left <= .zero { throw request.deadlinePassed(while: Self.phase, mayHaveBeenSent: false) }
        let waiter = SharedLoads.Waiter()
        let place = state.withLock { state in
            state.join(key, waiter) { number in begin(number, request, next: next) }
        }
        let leave = { @Sendable [self] (outcome: SharedLoads.Outcome) -> Void in
            let (waiter, task) = state.withLock { $0.leave(key, place) }
            waiter?.set(outcome)
            task?.cancel()
        }
        let outcome = await waiter.value(
            within: left, on: clock, onTimeout: { leave(.tooLate) }, onCancel: { leave(.cancelled) })
        return try await result(of: outcome, for: request, next: next)
    }

    /// Cancels what runs, waits until it has ended, and resets what is below.
    public func reset(next: any HTTPLoader) async {
        let tasks = state.withLock { $0.tasks }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        await next.reset()
    }

    private static let phase = "waiting for an equal request"

    /// The load of all who wait. They own it, and cancel it when the last one leaves; a reset awaits it.
    ///
    /// Each waiter keeps its own deadline, so the load itself has none.
    private func begin(_ number: UInt64, _ request: HTTPRequest, next: any HTTPLoader) -> Task<Void, Never> {
        Task {
            let result: Result<HTTPResponse, HTTPError>
            do throws(HTTPError) {
                result = .success(try await next.load(request.withoutDeadline))
            } catch {
                result = .failure(error)
            }
            let waiters = state.withLock { $0.finish(number) }
            for (index, waiter) in waiters.enumerated() {
                waiter.set(index > 0 && result.isStreamed ? .notShared : .result(result))
            }
        }
    }

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
                response.request.options = request.options
            } else {
                response.sharedFrom = response.request.id
                response.request = request
            }
            return response
        }
    }
}

extension Result<HTTPResponse, HTTPError> {
    fileprivate var isStreamed: Bool {
        if case .success(let response) = self { response.body.buffered == nil } else { false }
    }
}

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
    private let loads = Flights<DeduplicationKey, Result<HTTPResponse, HTTPError>>()
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

    /// The number of loads for which requests wait.
    public var running: Int { loads.running }

    /// The number of requests that wait for these loads.
    public var waiting: Int { loads.waiting }

    /// Sends the request, or waits for the load of an equal one.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard let key = DeduplicationKey(request, ignoring: ignored) else { return try await next.load(request) }
        if Task.isCancelled { throw HTTPError(.cancelled, request: request, mayHaveBeenSent: false) }
        let left = request.timeLeft
        if let left, left <= .zero { throw request.deadlinePassed(while: Self.phase, mayHaveBeenSent: false) }
        // The load has no deadline, because each request that waits for it has its own.
        let load = loads.join(key) { [sent = request.withoutDeadline] in await next.result(of: sent) }
        if let observation = request.observation {
            observation.record(load.isFirst ? .deduplicationLed : .deduplicationJoined)
        }
        switch await loads.outcome(for: load, within: left, on: clock) {
        case .cancelled: throw HTTPError(.cancelled, request: request)
        case .reset: throw HTTPError(.cancelled, request: request, message: "the chain was reset")
        case .late: throw request.deadlinePassed(while: Self.phase)
        case .value(.failure(let error)): throw error.with(request: request)
        case .value(.success(let response)):
            if load.isFirst { return returned(response, to: request) }
            // A streamed body can be read only once.
            if response.body.buffered == nil { return try await next.load(request) }
            return shared(response, with: request)
        }
    }

    /// Cancels the running loads, and resets the links below.
    public func reset(next: any HTTPLoader) async {
        loads.reset()
        await next.reset()
    }

    private static let phase = "waiting for an equal request"

    /// Returns the response to the request that was sent.
    private func returned(_ response: HTTPResponse, to request: HTTPRequest) -> HTTPResponse {
        guard request.hasDeadline else { return response }
        var response = response
        response.request.shareDeadline(of: request)
        return response
    }

    /// Returns the response to a request that was not sent itself.
    private func shared(_ response: HTTPResponse, with request: HTTPRequest) -> HTTPResponse {
        if let observation = request.observation {
            observation.record(.deduplicationShared) { $0[.sharedLoad] = response.request.observation?.load }
        }
        var response = response
        response.sharedFrom = response.request.id
        // A link above sees by the headers and the query whether a link below has added a credential.
        var sent = request
        (sent.headers, sent.query) = (response.request.headers, response.request.query)
        response.request = sent
        return response
    }
}

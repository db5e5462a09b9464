// SPDX-License-Identifier: MIT
public import Letterhead
import Synchronization

/// Spreads the requests to one logical server over several replicas, and leaves out replicas that fail.
///
/// ```swift
/// let client = HTTPClient(
///     environment: ServerEnvironment("https://orders.example.com"), retrying: Backoff(maximumRetries: 2),
///     attemptLinks: Balance(among: ["https://a.example.com", "https://b.example.com"]))
/// ```
///
/// Your program addresses the logical origin, which is the environment origin. Credentials, cookies, redirects and
/// caches belong to this origin, and responses and errors look as if it had responded. Only the connection, its
/// certificate, the `Host` field and the exchange events belong to the replica. Requests to other origins, such as
/// after a redirect, pass unchanged.
///
/// Put it into the `attemptLinks`, above the links that apply to each replica separately, such as a ``CircuitBreaker``.
/// A reset forgets the failures.
///
/// ## How a replica is chosen
///
/// - While there is a replica that a request has not tried, each attempt goes to such a replica. Among them, the
///   ``Policy`` chooses.
/// - The next replica is tried at once if nothing was sent: the first one could not be reached, its ``CircuitBreaker``
///   is open, or its `Throttle` queue is full. For other failures, `Retry` decides.
/// - After several failures in a row, the link sends no requests to a replica for a while. Then a single request finds
///   out whether it has recovered. If this applies to all replicas at once, all of them are used.
/// - A request that answers a 401, as `.digest` sends it, goes to the replica that sent the 401, because no other
///   replica knows the nonce.
///
/// For a list of replicas that changes, set ``replicas``.
public final class Balance: LoaderLink {
    fileprivate struct State {
        var replicas: [Replica]
        var fleet: Fleet
        var defect: String?
        /// A replica on a different machine without TLS, if any.
        var insecure: HTTPOrigin?
    }

    private let state: Mutex<State>
    private let policy: Policy
    private let logical: HTTPOrigin?
    private let (limit, rest): (Int, Duration)
    private let condition: Retry.Condition?
    private let stopwatch: Stopwatch
    private let random: (@Sendable () -> Double)?

    /// Creates a link that spreads requests over replicas.
    ///
    /// - Parameters:
    ///   - replicas: the servers. If the list is empty, each request fails with `.invalidRequest`.
    ///   - policy: how the link chooses a replica for a request.
    ///   - logical: the origin that the replicas stand for. Default: nil (the origin of the client environment).
    ///   - limit: the number of failures in a row after which a replica is left alone.
    ///   - rest: how long a replica is left alone before a single request probes it.
    ///   - condition: the outcomes that count as failures. Default: nil (`.serverFailures`).
    ///   - clock: measures how long replicas are left alone.
    ///   - random: returns numbers from 0 to 1, so that a test can predict the choices. Default: nil (a built-in
    ///     generator).
    public init(
        among replicas: [Replica], by policy: Policy = .lessBusyOfTwo, for logical: HTTPOrigin? = nil,
        restingAfter limit: Int = 3, rest: Duration = .seconds(10),
        counting condition: Retry.Condition? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        random: (@Sendable () -> Double)? = nil
    ) {
        state = Mutex(State(replicas: [], fleet: Fleet([])))
        (self.policy, self.logical, self.limit, self.rest) = (policy, logical, max(1, limit), rest)
        (self.condition, self.random) = (condition, random)
        stopwatch = Stopwatch(clock)
        self.replicas = replicas
    }

    /// The servers. Set it when your service discovery reports a new list, for example in a `for await` loop. Requests
    /// in progress continue, and the link keeps what it knows about a replica that stays in the list.
    public var replicas: [Replica] {
        get { state.withLock { $0.replicas } }
        set {
            state.withLock { state in
                state.replicas = newValue
                state.fleet.replace(with: newValue)
                state.defect = newValue.isEmpty ? "Balance has no replicas" : newValue.lazy.compactMap(\.defect).first
                state.insecure = newValue.lazy.compactMap(\.origin).first { !$0.isSecure }
            }
        }
    }

    /// The replicas that receive no requests at the moment, because they have failed several times in a row.
    public var resting: [HTTPOrigin] {
        let now = stopwatch.now
        return state.withLock { $0.fleet.resting(at: now) }
    }

    /// Sends the request to a replica, and to the next one if the first has received nothing.
    ///
    /// - Throws: `.invalidRequest`, with nothing sent, if there are no replicas, if a replica is malformed, or if the
    ///   logical origin is not known. Also if a replica on a different machine has http although the logical origin has
    ///   https or is this machine. Otherwise, errors from the next loader.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard let logical = logical ?? request.homeOrigin else {
            // A request with its environment removed isn't meant for the logical server.
            if request.options.contains(ServerEnvironment.self), request.serverEnvironment == nil {
                return try await next.load(request)
            }
            throw HTTPError(
                .invalidRequest, request: request,
                message:
                    "Balance does not know which requests are for its replicas: give the client an environment, or "
                    + "pass the origin as for:")
        }
        guard request.origin == logical else { return try await next.load(request) }
        let shared = request.triedServers
        var unreachable: [HTTPOrigin] = []
        while true {
            let (replica, permit) = try choose(
                for: request, to: logical, without: (shared?.origins ?? []) + unreachable,
                bound: unreachable.isEmpty ? request.boundServer : nil)
            shared?.insert(replica)
            let result = await next.result(of: request.sent(to: replica))
            let health = settle(permit, result, of: request)
            // The result is consumed, so that the response is changed in place and not copied.
            switch consume result {
            case .success(var response):
                response.body.onEnd { [self] _ in state.withLock { $0.fleet.leave(permit) } }
                response.request.returnFrom(
                    replica, to: logical, of: request,
                    Self.tried(shared, replica, isBad: health == .bad || response.status.code >= 400))
                let bound = response.status == .unauthorized ? replica : nil
                if response.request.boundServer != bound { response.request.boundServer = bound }
                response.returnLinks(from: replica, to: logical)
                // A `Balance` below has already set the server that sent the body.
                if response.respondingServer == nil, replica != logical { response.respondingServer = replica }
                return response
            case .failure(let error):
                state.withLock { $0.fleet.leave(permit) }
                unreachable.append(replica)
                if mayContinue(request, after: error, without: (shared?.origins ?? []) + unreachable) {
                    continue
                }
                throw Self.returned(error, from: replica, to: logical, of: request, shared, unreachable)
            }
        }
    }

    /// Forgets the failures of all replicas, and resets the links below.
    public func reset(next: any HTTPLoader) async {
        state.withLock { $0.fleet.reset() }
        await next.reset()
    }
}

extension Balance: CustomStringConvertible {
    /// The number of replicas and the policy: `Balance(3, lessBusyOfTwo)`.
    public var description: String { "Balance(\(state.withLock { $0.fleet.count }), \(policy))" }
}

extension Balance.State {
    /// What is wrong with the replicas for this logical origin, or nil if requests can be sent. The text is in the
    /// error.
    fileprivate func defect(for logical: HTTPOrigin) -> String? {
        if let defect { return defect }
        guard let insecure, logical.isSecure else { return nil }
        return
            "the replica \(insecure) does not use https, so credentials for \(logical) could be read on the network (use "
            + "https, or an environment with http and the name of a different machine)"
    }
}

extension Balance {
    private func choose(
        for request: HTTPRequest, to logical: HTTPOrigin, without tried: [HTTPOrigin], bound: HTTPOrigin?
    ) throws(HTTPError) -> (HTTPOrigin, Fleet.Permit) {
        let now = stopwatch.now
        let key: String? = if case .sticky(let key) = policy.kind { key(request) } else { nil }
        let (choice, defect) = state.withLock { state in
            let defect = state.defect(for: logical)
            return defect == nil
                ? (state.fleet.choose(policy, key: key, without: tried, bound: bound, at: now, random: random), nil)
                : (nil, defect)
        }
        if let choice { return choice }
        throw HTTPError(
            .invalidRequest, request: request,
            message: "\(defect ?? "Balance has no replicas (pass URLs such as https://a.example.com)")")
    }

    private func settle(
        _ permit: Fleet.Permit, _ result: Result<HTTPResponse, HTTPError>, of request: HTTPRequest
    ) -> ServerHealth {
        let health = result.health(of: request, counting: condition)
        let now = health == .good ? .zero : stopwatch.now
        let isOvertaken =
            if case .failure(let error) = result, error.code == .cancelled {
                request.triedServers?.isOvertaken == true
            } else { false }
        state.withLock { state in
            state.fleet.settle(permit, health, at: now, rest: rest, after: limit)
            if isOvertaken { state.fleet.keepOvertaken(permit, at: now, rest: rest) }
        }
        return health
    }

    /// Returns whether the next replica receives the request at once, because this replica has received nothing.
    ///
    /// If the failure was an attempt to connect, two more conditions apply:
    ///
    /// - There is a replica that isn't left alone. Otherwise, an outage would multiply the connections.
    /// - The body is replayable, because the attempt may have read it.
    private func mayContinue(_ request: HTTPRequest, after error: HTTPError, without tried: [HTTPOrigin]) -> Bool {
        guard !error.mayHaveBeenSent, !Task.isCancelled else { return false }
        let now = stopwatch.now
        switch error.code {
        case .circuitOpen, .queueFull: return state.withLock { $0.fleet.hasOthers(than: tried, at: nil) }
        case .cannotConnect, .timedOut:
            guard request.body.isEmpty || request.body.isReplayable, request.timeLeft.map({ $0 > .zero }) ?? true else {
                return false
            }
            return state.withLock { $0.fleet.hasOthers(than: tried, at: now) }
        default: return false
        }
    }

    /// Adds a server to the tried servers if its outcome was bad, and removes it otherwise. Returns the tried servers,
    /// for the request in the response.
    private static func tried(_ shared: TriedServers?, _ origin: HTTPOrigin, isBad: Bool) -> TriedServers? {
        guard isBad else {
            shared?.remove(origin)
            return shared
        }
        let tried = shared ?? TriedServers()
        tried.insert(origin)
        return tried
    }

    private static func returned(
        _ error: HTTPError, from replica: HTTPOrigin, to logical: HTTPOrigin, of request: HTTPRequest,
        _ shared: TriedServers?, _ unreachable: [HTTPOrigin]
    ) -> HTTPError {
        let tried = shared ?? TriedServers()
        for origin in unreachable { tried.insert(origin) }
        var failed = error.request
        failed.returnFrom(replica, to: logical, of: request, tried)
        var response = error.response
        response?.request.returnFrom(replica, to: logical, of: request, tried)
        return error.with(request: failed, response: response)
    }
}

extension Balance {
    /// Determines how ``Balance`` chooses among the replicas that are left for a request.
    public struct Policy: Sendable, CustomStringConvertible {
        enum Kind: Sendable {
            case roundRobin, lessBusyOfTwo, ordered, weighted
            case sticky(@Sendable (HTTPRequest) -> String)
        }

        let kind: Kind
        /// The policy name, such as `roundRobin`.
        public let description: String

        /// Chooses the replicas one after the other, in the order of the list.
        public static let roundRobin = Policy(kind: .roundRobin, description: "roundRobin")

        /// Of two random replicas, chooses the one with fewer requests in progress. It is the best choice for most
        /// fleets, because slow replicas receive fewer requests.
        ///
        /// If a ``Hedge`` cancels a request because a different replica was faster, the request still counts as in
        /// progress. It stops counting when its replica responds well, or when no request to the replica was cancelled
        /// in this way for the `rest` time of the balance.
        public static let lessBusyOfTwo = Policy(kind: .lessBusyOfTwo, description: "lessBusyOfTwo")

        /// Chooses the first replica in the list, as long as it doesn't fail. Use it for a server with standbys.
        public static let ordered = Policy(kind: .ordered, description: "ordered")

        /// Chooses at random, in proportion to ``Replica/weight``. Use it if the replicas have different capacities.
        public static let weighted = Policy(kind: .weighted, description: "weighted")

        /// Chooses the same replica for all requests with the same key, such as a tenant, as long as the replica
        /// doesn't fail. Use it if replicas cache data for each key. If a replica fails or leaves the list, only its
        /// keys move to other replicas.
        public static func sticky(_ key: @escaping @Sendable (HTTPRequest) -> String) -> Policy {
            Policy(kind: .sticky(key), description: "sticky")
        }
    }
}

// SPDX-License-Identifier: MIT
public import Letterhead
public import ServiceLifecycle

/// A client as a service of swift-service-lifecycle. It ends the client's requests when the program shuts down.
///
/// ```swift
/// let upstream = HTTPClientService(HTTPClient(environment: .production), limit: .seconds(10))
/// let server = Server(client: upstream.client)
/// try await ServiceGroup(
///     services: [upstream, server, upstream.signal], gracefulShutdownSignals: [.sigterm], logger: logger
/// ).run()
/// ```
///
/// Services shut down in reverse order, one after the other. So list the client before the services that send with it,
/// and its ``signal`` after them, from which the client learns at once that the shutdown has begun. The limit counts
/// from then:
///
/// 1. While the other services shut down, they can send until the limit. When it's the client's turn, or at the limit,
///    new requests fail with ``Letterhead/HTTPError/Code/shuttingDown``, and nothing is sent.
/// 2. Running requests, with their retries and their streamed bodies, have the time until the limit, also if a server
///    still waits for them.
/// 3. Those that are left are cancelled, and the service ends when they have ended.
///
/// Without `signal` in the list, the limit counts from the client's turn. A server that waits for a request without an
/// end then never gives the client its turn.
///
/// Tokens, cookies and caches stay, and so do the requests of the client that you passed.
///
/// If the service's task is cancelled, running requests are cancelled at once.
public struct HTTPClientService: Service, CustomStringConvertible {
    /// The client to send with. Only its requests, and those of clients derived from it, are counted and refused.
    public let client: HTTPClient
    private let requests: RunningRequests
    private let limit: Duration

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - client: the client. The service sends with a derived one.
    ///   - limit: how long running requests may take after ``signal``, or else after the client's turn has come.
    ///     Default: 20 seconds.
    public init(_ client: HTTPClient, limit: Duration = .seconds(20)) {
        requests = RunningRequests()
        self.client = client.addingLink(requests)
        self.limit = limit
    }

    /// Learns that a graceful shutdown has begun, and ends at once. List it after all services that send with the
    /// client, because the last service is the first to shut down.
    public var signal: some Service { ShutdownSignal(requests: requests) }

    /// Waits for a graceful shutdown, or until its task is cancelled, and ends the client's requests.
    public func run() async {
        await first(of: Self.turn) { [requests] in await requests.waitForSignal() }
        let end = ContinuousClock.now + limit
        let sleep = { @Sendable in _ = try? await Task.sleep(until: end, clock: .continuous) }
        if !Task.isCancelled { await first(of: Self.turn, sleep) }
        requests.close()
        if !Task.isCancelled { await first(of: { [requests] in await requests.end() }, sleep) }
        await requests.cancel()
        // The group takes a service that ends before its turn for a failed one.
        await Self.turn()
    }

    /// Waits until the group shuts this service down.
    private static let turn = { @Sendable in _ = try? await gracefulShutdown() }

    /// Runs both, and cancels the other when one has ended.
    private func first(
        of one: @escaping @Sendable () async -> Void, _ other: @escaping @Sendable () async -> Void
    ) async {
        await withTaskGroup { group in
            group.addTask { await one() }
            group.addTask { await other() }
            await group.next()
            group.cancelAll()
        }
    }

    public var description: String { "HTTPClientService(\(client))" }
}

private struct ShutdownSignal: Service {
    let requests: RunningRequests

    func run() async {
        try? await gracefulShutdown()
        requests.beginShutdown()
    }
}

extension HTTPError.Code {
    /// The program shuts down, and its `HTTPClientService` sends no more requests.
    public static let shuttingDown = Self(rawValue: "shuttingDown")
}

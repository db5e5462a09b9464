// SPDX-License-Identifier: MIT
public import Letterhead
public import ServiceLifecycle

/// A client as a service of swift-service-lifecycle. It ends the requests of the client when the program shuts down.
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
/// and its ``signal`` after them: through the signal, the client learns at once that the shutdown has begun. The limit
/// counts from then:
///
/// 1. While the other services shut down, they can send until the limit. When the group shuts down the client, or at
///    the limit, new requests fail with ``Letterhead/HTTPError/Code/shuttingDown``, and nothing is sent.
/// 2. Running requests, with their retries and their streamed bodies, have the time until the limit, even if a server
///    still waits for them.
/// 3. The remaining requests are cancelled, and the service ends when they have ended.
///
/// Without `signal` in the list, the limit counts from the moment when the group shuts down the client. If a server
/// waits for a request that never ends, this moment never comes.
///
/// Tokens, cookies and caches stay. The service doesn't end requests that you send with the client that you passed to
/// it.
///
/// If the service task is cancelled, running requests are cancelled at once.
public struct HTTPClientService: Service, CustomStringConvertible {
    /// The client to send with. The service counts and refuses only its requests, and those of clients derived from it.
    public let client: HTTPClient
    private let requests: RunningRequests
    private let limit: Duration

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - client: the client. Send with ``client``, which is derived from it.
    ///   - limit: how long running requests may take after ``signal``. If the signal isn't in the list, the limit
    ///     counts from the moment when the group shuts down this service. Default: 20 seconds.
    public init(_ client: HTTPClient, limit: Duration = .seconds(20)) {
        requests = RunningRequests()
        self.client = client.addingLink(requests)
        self.limit = limit
    }

    /// A service that learns at once that a graceful shutdown has begun, and then ends. List it after all services that
    /// send with the client, because the last service is the first to shut down.
    public var signal: some Service { ShutdownSignal(requests: requests) }

    /// Waits for a graceful shutdown, or until its task is cancelled, and then ends the requests of the client.
    public func run() async {
        await first(of: Self.turn) { [requests] in await requests.waitForSignal() }
        let end = ContinuousClock.now + limit
        let sleep = { @Sendable in _ = try? await Task.sleep(until: end, clock: .continuous) }
        if !Task.isCancelled { await first(of: Self.turn, sleep) }
        requests.close()
        if !Task.isCancelled { await first(of: { [requests] in await requests.end() }, sleep) }
        await requests.cancel()
        // If a service ends before the group shuts it down, the group treats it as failed.
        await Self.turn()
    }

    /// Waits until the group shuts this service down.
    private static let turn = { @Sendable in _ = try? await gracefulShutdown() }

    /// Runs two functions. When one of them has ended, cancels the other.
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
    /// The program is shutting down, and its `HTTPClientService` sends no more requests.
    public static let shuttingDown = Self(rawValue: "shuttingDown")
}

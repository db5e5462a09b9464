// SPDX-License-Identifier: MIT
public import Letterhead
public import ServiceLifecycle

/// A client as a service of swift-service-lifecycle. It ends the client's requests when the program shuts down.
///
/// ```swift
/// let upstream = HTTPClientService(HTTPClient(environment: .production), limit: .seconds(10))
/// let server = Server(client: upstream.client)
/// try await ServiceGroup(
///     services: [upstream, server], gracefulShutdownSignals: [.sigterm], logger: logger
/// ).run()
/// ```
///
/// Services shut down in reverse order, so list the client before the services that send with it. While they shut down,
/// they can still send. Then it's the client's turn:
///
/// 1. New requests fail with ``Letterhead/HTTPError/Code/shuttingDown``, and nothing is sent.
/// 2. Running requests, with their retries and their streamed bodies, have the time of the limit.
/// 3. Those that are left are cancelled, and the service ends when they have ended.
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
    ///   - limit: how long running requests may take after a graceful shutdown has begun. Default: 20 seconds.
    public init(_ client: HTTPClient, limit: Duration = .seconds(20)) {
        requests = RunningRequests()
        self.client = client.addingLink(requests)
        self.limit = limit
    }

    /// Waits for a graceful shutdown, or until its task is cancelled, and ends the client's requests.
    public func run() async {
        try? await gracefulShutdown()
        requests.close()
        if !Task.isCancelled { await waitForRequests() }
        await requests.cancel()
    }

    private func waitForRequests() async {
        await withTaskGroup { group in
            group.addTask { [requests] in await requests.end() }
            group.addTask { [limit] in try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }

    public var description: String { "HTTPClientService(\(client))" }
}

extension HTTPError.Code {
    /// The program shuts down, and its `HTTPClientService` sends no more requests.
    public static let shuttingDown = Self(rawValue: "shuttingDown")
}

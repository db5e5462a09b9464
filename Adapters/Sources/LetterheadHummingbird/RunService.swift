// SPDX-License-Identifier: MIT
public import Hummingbird
public import LetterheadServiceLifecycle
import ServiceLifecycle
public import UnixSignals

extension ApplicationProtocol {
    /// Runs the application with the clients that its handlers send with, until one of the signals.
    ///
    /// ```swift
    /// let orders = HTTPClientService(HTTPClient(environment: .orders), limit: .seconds(10))
    /// try await application.runService(clients: [orders])
    /// ```
    ///
    /// At a graceful shutdown, the server accepts no more requests, and finishes those that it handles. Their handlers
    /// can send until the limits of the clients. At the limit, the remaining requests are cancelled, so a server that
    /// hangs can't delay the end of the program further.
    ///
    /// Pass the clients here and not in the `services` of the application. There, a client would learn of the shutdown
    /// only after the server has ended.
    ///
    /// - Parameters:
    ///   - clients: the clients that the handlers send with.
    ///   - gracefulShutdownSignals: the signals that begin the shutdown. Default: SIGTERM and SIGINT.
    public func runService(
        clients: [HTTPClientService], gracefulShutdownSignals: [UnixSignal] = [.sigterm, .sigint]
    ) async throws {
        let services: [any Service] = clients + [self] + clients.map(\.signal)
        try await ServiceGroup(
            services: services, gracefulShutdownSignals: gracefulShutdownSignals, logger: logger
        ).run()
    }
}

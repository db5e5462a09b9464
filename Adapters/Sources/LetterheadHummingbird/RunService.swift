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
    /// At a graceful shutdown, the server accepts no more requests and finishes those that it handles, which can send
    /// until the limits of the clients. At the limit, the requests that are left are cancelled, so a server that hangs
    /// can't delay the end of the program further. A client in the `services` of the application would learn of the
    /// shutdown only after the server has ended.
    public func runService(
        clients: [HTTPClientService], gracefulShutdownSignals: [UnixSignal] = [.sigterm, .sigint]
    ) async throws {
        let services: [any Service] = clients + [self] + clients.map(\.signal)
        try await ServiceGroup(
            services: services, gracefulShutdownSignals: gracefulShutdownSignals, logger: logger
        ).run()
    }
}

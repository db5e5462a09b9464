// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import Synchronization

/// A transport over HTTP/1.1 with one connection for each request. It does what the built-in transports do: metrics,
/// trailers, streamed responses, downloads, progress, time limits, cancellation and reset.
///
/// It is a class because a reset ends the exchanges in progress.
final class SocketTransport: HTTPLoader {
    private let exchanges = Mutex<[ObjectIdentifier: SocketExchange]>([:])

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try request.validate()
        guard request.scheme == "http", let host = request.host else {
            throw HTTPError(.invalidRequest, request: request, message: "this transport supports http only")
        }
        if Task.isCancelled { throw HTTPError(.cancelled, request: request, mayHaveBeenSent: false) }
        if let left = request.timeLeft, left <= .zero {
            throw request.deadlinePassed(while: "connecting", mayHaveBeenSent: false)
        }
        var sent = request
        sent.headers = request.framedHeaders()
        let body = try request.framedBody()
        guard let socket = await Socket.connected(toHost: host, port: request.port ?? 80) else {
            throw HTTPError(
                .cannotConnect, request: sent, message: "the server cannot be reached", mayHaveBeenSent: false)
        }
        let exchange = SocketExchange(sent, over: socket)
        exchanges.withLock { $0[ObjectIdentifier(exchange)] = exchange }
        exchange.whenEnded { [self] in _ = exchanges.withLock { $0.removeValue(forKey: ObjectIdentifier(exchange)) } }
        do throws(HTTPError) {
            return try await exchange.response(sending: body).delivered(to: sent)
        } catch {
            exchange.end()
            throw error
        }
    }

    var endsItsRequests: Bool { true }

    func reset() async {
        let running = exchanges.withLock { Array($0.values) }
        for exchange in running { exchange.cancel() }
        for exchange in running { await exchange.ended() }
    }
}

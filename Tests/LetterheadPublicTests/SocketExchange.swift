// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import Synchronization

/// One request and its response over a socket.
///
/// It is a class because the transport, the response and the reader of its body share it.
final class SocketExchange: Sendable {
    private struct State {
        var metrics = HTTPResponse.Metrics()
        var trailers = HTTPHeaders()
        var isEnded = false
        var onEnd: (@Sendable () -> Void)?
        var watchers: [CheckedContinuation<Void, Never>] = []
    }

    private let request: HTTPRequest
    private let socket: Socket
    private let start = ContinuousClock.now
    private let state = Mutex(State())
    private let reader = Mutex(MessageReader())

    init(_ request: HTTPRequest, over socket: Socket) {
        (self.request, self.socket) = (request, socket)
        note { metrics in
            metrics.connect = .now - start
            metrics.remoteAddress = "\(request.host ?? ""):\(request.port ?? 80)"
        }
    }

    /// Sends the request, and returns the response as soon as its head has arrived. Its body is streamed.
    func response(sending body: BodyChunks) async throws(HTTPError) -> HTTPResponse {
        try await send(body)
        let head = try await blocking { [self] () throws(HTTPError) in try readHead() }
        var response = HTTPResponse(request: request, status: head.status, headers: head.headers)
        response.provide(
            metrics: { self.state.withLock { $0.metrics } }, trailers: { self.state.withLock { $0.trailers } })
        let isOpenEnded = request.responseDelivery == .streamed && request.accepts(head.status)
        response.body = HTTPResponseBody(
            length: head.length,
            pull: { try await self.piece(isTimed: !isOpenEnded) },
            cancel: { self.cancel() })
        return response
    }

    /// Ends the exchange with `.cancelled`.
    func cancel() {
        socket.cancel()
        end()
    }

    /// Closes the connection. A second call does nothing.
    func end() {
        let (onEnd, watchers) = state.withLock { state in
            defer { (state.onEnd, state.watchers) = (nil, []) }
            state.isEnded = true
            return (state.onEnd, state.watchers)
        }
        onEnd?()
        for watcher in watchers { watcher.resume() }
    }

    func whenEnded(_ closure: @escaping @Sendable () -> Void) { state.withLock { $0.onEnd = closure } }

    /// Returns when the exchange has ended.
    func ended() async {
        await withCheckedContinuation { continuation in
            let isEnded = state.withLock { state in
                if !state.isEnded { state.watchers.append(continuation) }
                return state.isEnded
            }
            if isEnded { continuation.resume() }
        }
    }

    // MARK: The request

    private func send(_ body: BodyChunks) async throws(HTTPError) {
        var head = "\(request.method.rawValue) \(request.target) HTTP/1.1\r\nConnection: close\r\n"
        if !request.headers.contains(.host) { head += "Host: \(request.authority ?? "")\r\n" }
        for field in request.headers { head += "\(field.name.rawValue): \(field.value)\r\n" }
        if let length = body.length {
            head += "Content-Length: \(length)\r\n"
        } else {
            head += "Transfer-Encoding: chunked\r\n"
        }
        try await write(Data((head + "\r\n").utf8))
        var sent = 0
        do {
            for try await chunk in body {
                let frame = body.length == nil ? Data("\(String(chunk.count, radix: 16))\r\n".utf8) : Data()
                try await write(frame + chunk + (frame.isEmpty ? Data() : Data("\r\n".utf8)))
                sent += chunk.count
                request.onProgress?(
                    HTTPRequest.Progress(direction: .upload, completedBytes: sent, totalBytes: body.length))
            }
        } catch {
            throw HTTPError(ofBody: error, request: request, mayHaveBeenSent: true)
        }
        if body.length == nil { try await write(Data("0\r\n\r\n".utf8)) }
    }

    private func write(_ data: Data) async throws(HTTPError) {
        note { $0.bytesSent += data.count }
        try await blocking { [self] () throws(HTTPError) in
            guard socket.write(data) else { throw lost("while the request was sent") }
        }
    }

    // MARK: The response

    private func readHead() throws(HTTPError) -> MessageReader.Head {
        while true {
            do {
                let head = try reader.withLock { reader in try reader.nextHead(to: request.method) }
                if let head {
                    note { ($0.httpVersion, $0.firstByte) = (head.version, .now - start) }
                    return head
                }
            } catch {
                throw HTTPError(.invalidResponse, request: request, underlying: error, message: "the head is malformed")
            }
            guard try receive(isTimed: true, while: "waiting for the response") else {
                throw lost("before the response was complete")
            }
        }
    }

    /// Returns the next piece of the body, or nil at its end.
    private func piece(isTimed: Bool) async throws -> Data? {
        do {
            let piece = try await blocking { [self] () throws(HTTPError) in try nextPiece(isTimed: isTimed) }
            if piece == nil {
                note { $0.total = .now - start }
                end()
            }
            return piece
        } catch {
            end()
            throw error
        }
    }

    private func nextPiece(isTimed: Bool) throws(HTTPError) -> Data? {
        while true {
            do {
                switch try reader.withLock({ reader in try reader.nextPiece() }) {
                case .bytes(let data): return data
                case .end(let trailers):
                    state.withLock { $0.trailers = trailers }
                    return nil
                case .needsMore: break
                }
            } catch {
                throw HTTPError(.invalidResponse, request: request, underlying: error, message: "the body is malformed")
            }
            if try receive(isTimed: isTimed, while: "reading the body") { continue }
            let isComplete = reader.withLock { $0.endsWithConnection }
            if isComplete { return nil }
            throw lost("before the body was complete")
        }
    }

    /// Reads bytes within the time limits of the request. It returns false at the end of the connection.
    private func receive(isTimed: Bool, while phase: String) throws(HTTPError) -> Bool {
        let timeout = isTimed ? request.timeout.map { $0 - (.now - start) } : nil
        let limit = [timeout, request.timeLeft, request.idleTimeout].compactMap { $0 }.min()
        guard socket.waitForBytes(within: limit.map { max($0, .zero) }) else {
            if let left = request.timeLeft, left <= .zero { throw request.deadlinePassed(while: phase) }
            let name = timeout == limit ? "timeout" : "idleTimeout"
            throw HTTPError(.timedOut, request: request, message: "the \(name) was exceeded while \(phase)")
        }
        guard let data = socket.read(), !socket.wasCancelled else { throw lost("while \(phase)") }
        note { $0.bytesReceived += data.count }
        reader.withLock { $0.append(data) }
        return !data.isEmpty
    }

    private func lost(_ phase: String) -> HTTPError {
        socket.wasCancelled
            ? HTTPError(.cancelled, request: request)
            : HTTPError(.connectionLost, request: request, message: "the connection was lost \(phase)")
    }

    private func note(_ change: (inout HTTPResponse.Metrics) -> Void) { state.withLock { change(&$0.metrics) } }

    /// Runs a closure that blocks on a separate thread. Cancelling the task ends the exchange.
    private func blocking<Value: Sendable>(
        _ work: @escaping @Sendable () throws(HTTPError) -> Value
    ) async throws(HTTPError) -> Value {
        let result: Result<Value, HTTPError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: Result { () throws(HTTPError) in try work() }) }
            }
        } onCancel: {
            cancel()
        }
        return try result.get()
    }
}

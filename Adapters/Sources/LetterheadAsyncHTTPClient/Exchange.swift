// SPDX-License-Identifier: MIT
import AsyncHTTPClient
import Foundation
import Letterhead
import NIOCore
import NIOHTTP1
import Synchronization

/// One request and its response. The caller, the receiving task, the body reader and the timer share it. The first of
/// them that ends the exchange determines its result.
///
/// A separate task sends the request and receives the body, one piece ahead of the reader. The only way to end a
/// request of AsyncHTTPClient is to cancel that task. The caller doesn't wait until the task has ended.
final class Exchange: Sendable {
    typealias Head = (status: HTTPStatus, headers: Letterhead.HTTPHeaders, version: HTTPVersion)

    struct State {
        var task: Task<Void, Never>?
        var timer: Task<Void, Never>?
        var cancelsUpload: (@Sendable () -> Void)?
        var head: Head?
        var caller: CheckedContinuation<Void, Never>?
        var piece: Data?
        var receiver: CheckedContinuation<Bool, Never>?
        var reader: CheckedContinuation<Data?, any Error>?
        /// How the exchange ended: with an error, or with nil at the end of the body. Nil while it is in progress.
        var end: HTTPError??
        var lastActivity = ContinuousClock.now
        var metrics = HTTPResponse.Metrics()
    }

    let request: HTTPRequest
    let startedAt = ContinuousClock.now
    let idleTimeout: Duration?
    let deadline: ContinuousClock.Instant?
    let state = Mutex(State())

    init(_ request: HTTPRequest, idleTimeout: Duration?) {
        (self.request, self.idleTimeout) = (request, idleTimeout)
        let left = request.timeLeft.map { min($0, .seconds(1_000_000_000)) }
        deadline = left.map { [startedAt] in startedAt + $0 }
    }

    /// Sends the request in a task, and starts the timer.
    ///
    /// - Parameter onEnd: called when nothing is sent or received any more.
    func start(_ sent: HTTPClientRequest, over client: OwnedClient, onEnd: @escaping @Sendable () -> Void) {
        let task = Task {
            await receive(sent, over: client)
            onEnd()
        }
        let timer = Task { await watch() }
        let hasEnded = state.withLock { state in
            (state.task, state.timer) = (task, timer)
            return state.end != nil
        }
        guard hasEnded else { return }
        task.cancel()
        timer.cancel()
    }

    func head() async throws(HTTPError) -> Head {
        await withTaskCancellationHandler {
            await withCheckedContinuation { caller in
                let isReady = state.withLock { state in
                    guard state.head == nil, state.end == nil else { return true }
                    state.caller = caller
                    return false
                }
                if isReady { caller.resume() }
            }
        } onCancel: {
            cancel()
        }
        let (head, end) = state.withLock { ($0.head, $0.end) }
        if case .some(.some(let error)) = end { throw error }
        guard let head else { throw HTTPError(.invalidResponse, request: request, message: "there is no response") }
        return head
    }

    /// Waits until nothing is sent or received any more.
    func end() async { await state.withLock { $0.task }?.value }

    private func receive(_ sent: HTTPClientRequest, over client: OwnedClient) async {
        // If the exchange was cancelled before it began, nothing is sent.
        guard state.withLock({ $0.end == nil }) else { return }
        do {
            let response = try await client.client.execute(sent, deadline: .distantFuture)
            let length = take(response)
            var count = 0
            for try await buffer in response.body where buffer.readableBytes > 0 {
                count += buffer.readableBytes
                report(.download, count, of: length)
                guard await hand(Data(buffer.readableBytesView)) else { return }
            }
            if let length, count < length { throw HTTPClientError.remoteConnectionClosed }
            finish(nil)
        } catch {
            finish(HTTPError(endOf: self, error))
        }
    }

    func report(_ direction: HTTPRequest.Progress.Direction, _ count: Int, of total: Int?) {
        request.onProgress?(HTTPRequest.Progress(direction: direction, completedBytes: count, totalBytes: total))
    }
}

extension Exchange {
    /// Returns the response for the caller. Its body is received while it is read.
    func response(_ head: Head) -> HTTPResponse {
        let length = head.headers.bodyLength(of: request.method, head.status)
        var body = HTTPResponseBody()
        if length != 0 {
            body = HTTPResponseBody(length: length, pull: { try await self.read() }, cancel: { self.cancel() })
        }
        var response = HTTPResponse(request: request, status: head.status, headers: head.headers, body: body)
        response.provide(metrics: { self.state.withLock { $0.metrics } })
        return response
    }

    /// Stores the head, and returns the length of the body.
    private func take(_ response: HTTPClientResponse) -> Int? {
        let fields = response.headers.map { Letterhead.HTTPHeaders.Field(.init($0.name), $0.value) }
        let head = Head(HTTPStatus(Int(response.status.code)), Letterhead.HTTPHeaders(fields), response.version)
        let caller = state.withLock { state in
            guard state.end == nil else { return nil as CheckedContinuation<Void, Never>? }
            state.head = head
            state.lastActivity = .now
            state.metrics.firstByte = .now - startedAt
            state.metrics.httpVersion =
                head.version.major == 1 ? "HTTP/1.\(head.version.minor)" : "HTTP/\(head.version.major)"
            return state.caller.take()
        }
        caller?.resume()
        return head.headers.bodyLength(of: request.method, head.status)
    }

    /// Passes a piece to the reader, and returns whether the reader wants more. If the reader waits for this piece, it
    /// returns at once. Otherwise, it returns when the reader has taken the piece.
    private func hand(_ piece: Data) async -> Bool {
        await withCheckedContinuation { receiver in
            let resume = state.withLock { state -> () -> Void in
                state.lastActivity = .now
                state.metrics.bytesReceived += piece.count
                guard state.end == nil else { return { receiver.resume(returning: false) } }
                guard let reader = state.reader.take() else {
                    (state.piece, state.receiver) = (piece, receiver)
                    return {}
                }
                return {
                    reader.resume(returning: piece)
                    receiver.resume(returning: true)
                }
            }
            resume()
        }
    }

    private func read() async throws -> Data? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { reader in
                let resume = state.withLock { state -> () -> Void in
                    switch state.end {
                    case .some(.some(let error)): return { reader.resume(throwing: error) }
                    case .some(nil): return { reader.resume(returning: nil) }
                    case nil: break
                    }
                    guard let piece = state.piece.take() else {
                        // The idle timeout begins now, because the reader was responsible for the time between two
                        // reads.
                        (state.reader, state.lastActivity) = (reader, .now)
                        return {}
                    }
                    let receiver = state.receiver.take()
                    return {
                        reader.resume(returning: piece)
                        receiver?.resume(returning: true)
                    }
                }
                resume()
            }
        } onCancel: {
            cancel()
        }
    }

    func cancel(mayHaveBeenSent: Bool = true) {
        let wasReset = request.generation?.hasEnded ?? false
        finish(
            HTTPError(
                .cancelled, request: request, message: wasReset ? "the client was reset" : "the request was cancelled",
                mayHaveBeenSent: mayHaveBeenSent))
    }

    /// Ends the exchange with an error, or with the end of the body if there is none. If it has already ended, does
    /// nothing.
    func finish(_ error: HTTPError?) {
        let ended = state.withLock { state -> State? in
            guard state.end == nil else { return nil }
            state.end = .some(error)
            state.metrics.total = .now - startedAt
            defer {
                (state.caller, state.reader, state.receiver, state.piece) = (nil, nil, nil, nil)
                (state.timer, state.cancelsUpload) = (nil, nil)
            }
            return state
        }
        guard let ended else { return }
        ended.caller?.resume()
        ended.receiver?.resume(returning: false)
        if let error { ended.reader?.resume(throwing: error) } else { ended.reader?.resume(returning: nil) }
        ended.timer?.cancel()
        ended.cancelsUpload?()
        if error != nil { ended.task?.cancel() }
    }
}

extension Letterhead.HTTPHeaders {
    /// The number of bytes that a response with these fields has, or nil if it isn't known (RFC 9112, 6.3).
    fileprivate func bodyLength(of method: Letterhead.HTTPMethod, _ status: HTTPStatus) -> Int? {
        if method == .head || status == .noContent || status == .notModified || status.isInformational { return 0 }
        return contains(.transferEncoding) ? nil : values(for: .contentLength).first.flatMap { Int($0) }
    }
}

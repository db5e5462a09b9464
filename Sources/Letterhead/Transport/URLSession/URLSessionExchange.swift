import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One request on its way through a session. A class, because the loader, the delegate, the timers and the reader of the
/// body meet in it; whoever settles it first decides how it ended.
final class URLSessionExchange: Sendable {
    typealias Caller = CheckedContinuation<Result<HTTPResponse, HTTPError>, Never>

    struct State {
        var task: URLSessionTask?
        var caller: Caller?
        var head: HTTPURLResponse?
        var receivedBytes = 0
        var inbox = URLSessionInbox()
        var firstByteWait = 0
        var isCancelled = false
    }

    let request: HTTPRequest
    let configuration: TransportConfiguration
    private let upload: URLSessionUpload
    let state = Mutex(State())

    init(request: HTTPRequest, configuration: TransportConfiguration, upload: URLSessionUpload) {
        (self.request, self.configuration, self.upload) = (request, configuration, upload)
    }

    /// Sends the request, and returns with the whole response, or with its head when it is streamed.
    func run(over session: URLSession, in exchanges: URLSessionExchanges) async throws(HTTPError) -> HTTPResponse {
        let task = upload.makeTask(in: session)
        exchanges.add(self)
        (session.delegate as? URLSessionRelay)?.register(self, for: task)
        return try await withTaskCancellationHandler {
            await withCheckedContinuation { caller in start(task, for: caller) }
        } onCancel: {
            cancel()
        }.get()
    }

    private func start(_ task: URLSessionTask, for caller: Caller) {
        let isCancelled = state.withLock { state in
            (state.caller, state.task) = (caller, task)
            return state.isCancelled
        }
        startTimers()
        task.resume()
        if isCancelled { cancel() }
    }

    /// Takes the head; interim answers are none.
    func receive(_ response: URLResponse) {
        guard let head = response as? HTTPURLResponse, head.statusCode >= 200 else { return }
        state.withLock { $0.head = head }
        guard request.responseDelivery != .buffered else { return }
        settle { _ in
            head.response(to: self.request, body: self.streamedBody(length: head.knownLength(of: self.request.method)))
        }
    }

    /// Takes a piece of the body.
    func receive(_ data: Data) {
        let limit = request.responseLimit
        let arrival = state.withLock { state in
            state.receivedBytes += data.count
            return state.inbox.add(data, limit: limit)
        }
        switch arrival {
        case .held: holdBack()
        case .wanted(let reader): reader.resume(returning: data)
        case .overflow:
            fail(
                HTTPError(
                    .responseTooLarge, request: request,
                    message: "the response is larger than the \(limit) bytes allowed"))
        }
    }

    /// Takes the end.
    func complete(_ error: (any Error)?) {
        guard let error else {
            settle()
            return finish(.success(nil))
        }
        let (isCancelled, head, received) = state.withLock { ($0.isCancelled, $0.head, $0.receivedBytes) }
        finish(
            .failure(
                isCancelled
                    ? HTTPError(.cancelled, request: request)
                    : HTTPError(endOf: request, error, head: head, receivedBytes: received)))
    }

    /// Ends it as cancelled.
    func cancel() {
        state.withLock { $0.isCancelled = true }
        fail(HTTPError(.cancelled, request: request))
    }

    /// Ends it with an error, and lets the rest go.
    func fail(_ error: HTTPError) {
        finish(.failure(error))
        stopTask()
    }

    /// Ends it with the response as far as it has arrived.
    func settle() {
        settle { (state) throws(HTTPError) in
            guard let head = state.head else {
                throw HTTPError(
                    .invalidResponse, request: self.request, message: "the connection ended without a response")
            }
            return head.response(to: self.request, body: HTTPResponseBody(state.inbox.takeAll()))
        }
    }

    /// Ends it with what has arrived, though the task would go on.
    func settleEarly() {
        settle()
        finish(.success(nil))
        stopTask()
    }

    private func settle(_ make: (inout State) throws(HTTPError) -> HTTPResponse) {
        let settled = state.withLock { state -> (Caller, Result<HTTPResponse, HTTPError>)? in
            guard let caller = state.caller else { return nil }
            state.caller = nil
            return (caller, Result { () throws(HTTPError) in try make(&state) })
        }
        if let (caller, result) = settled { caller.resume(returning: result) }
    }

    /// Ends the caller's wait and that of the body's reader.
    private func finish(_ end: Result<Data?, HTTPError>) {
        if case .failure(let error) = end { settle { (_) throws(HTTPError) in throw error } }
        let reader = state.withLock { $0.inbox.finish(end.mapError { $0 }) }
        reader?.resume(with: end.mapError { $0 })
    }

    /// Off the delegate's queue, since a task that is being cancelled waits for that.
    func stopTask() {
        guard let task = state.withLock({ $0.task }) else { return }
        DispatchQueue.global().async { task.cancel() }
    }
}

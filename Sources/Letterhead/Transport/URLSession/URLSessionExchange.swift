import Dispatch
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
        /// Whether the task is over, or was cancelled already.
        var isStopped = false
        var caller: Caller?
        var head: HTTPURLResponse?
        var receivedBytes = 0
        var downloadMeter: ProgressMeter?
        var inbox = URLSessionInbox()
        var firstByteWait = 0
        var isCancelled = false
    }

    let request: HTTPRequest
    let configuration: TransportConfiguration
    private let upload: URLSessionUpload
    private let uploadMeter: ProgressMeter?
    private let facts = TransportFacts()
    private let startedAt = ContinuousClock.now
    let state = Mutex(State())

    init(request: HTTPRequest, configuration: TransportConfiguration, upload: URLSessionUpload) {
        (self.request, self.configuration, self.upload) = (request, configuration, upload)
        uploadMeter = request.onProgress.map {
            ProgressMeter(.upload, total: request.body.contentLength, report: $0)
        }
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
        let length = head.knownLength(of: request.method)
        let meter = request.onProgress.map { ProgressMeter(.download, total: length, report: $0) }
        state.withLock { ($0.head, $0.downloadMeter) = (head, meter) }
        facts.metrics.firstByte = .now - startedAt
        guard request.responseDelivery != .buffered else { return }
        settle { _ in self.response(head, body: self.streamedBody(length: length)) }
    }

    /// Takes a piece of the body.
    func receive(_ data: Data) {
        let limit = heldLimit
        let (meter, arrival) = state.withLock { state in
            state.receivedBytes += data.count
            return (state.downloadMeter, state.inbox.add(data, limit: limit))
        }
        meter?.add(data.count)
        switch arrival {
        case .held: holdBack()
        case .wanted(let reader): reader.resume(returning: data)
        case .overflow:
            fail(
                HTTPError(
                    .responseTooLarge, request: request,
                    response: state.withLock { $0.head }.map { response($0, body: HTTPResponseBody()) },
                    message: "the response is larger than the \(limit) bytes allowed"))
        }
    }

    /// Takes note that so many bytes more, and so many in all, of the request's body have gone.
    func sent(_ bytes: Int64, of totalBytes: Int64) {
        #if canImport(FoundationNetworking)
            // There the sum is that of the moment in which it is told, ahead of its piece.
            uploadMeter?.add(Int(clamping: bytes))
        #else
            uploadMeter?.note(Int(clamping: totalBytes))
        #endif
        waitForFirstByte()
    }

    #if !canImport(FoundationNetworking)
        /// Takes what Foundation has measured, which it tells before the end.
        func collect(_ metrics: URLSessionTaskMetrics) {
            if let last = metrics.transactionMetrics.last { facts.metrics = TransportMetrics(last) }
        }
    #endif

    /// Takes the end.
    func complete(_ error: (any Error)?) {
        noteTotal()
        let (isCancelled, head, received) = state.withLock { state in
            state.isStopped = true
            return (state.isCancelled, state.head, state.receivedBytes)
        }
        guard let error else {
            settle()
            return finish(.success(nil))
        }
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
            return self.response(head, body: HTTPResponseBody(state.inbox.takeAll()))
        }
    }

    /// Ends it with what has arrived, though the task would go on.
    func settleEarly() {
        noteTotal()
        settle()
        finish(.success(nil))
        stopTask()
    }

    private func response(_ head: HTTPURLResponse, body: HTTPResponseBody) -> HTTPResponse {
        var response = head.response(to: request, body: body)
        response[option: TransportFactsValue.self] = facts
        return response
    }

    private func noteTotal() {
        if facts.metrics.total == .zero { facts.metrics.total = .now - startedAt }
    }

    private func settle(_ make: (inout State) throws(HTTPError) -> HTTPResponse) {
        let settled = state.withLock { state -> (Caller, Result<HTTPResponse, HTTPError>)? in
            guard let caller = state.caller else { return nil }
            state.caller = nil
            return (caller, Result { () throws(HTTPError) in try make(&state) })
        }
        if let (caller, result) = settled { caller.resume(returning: result) }
    }

    /// Ends the caller's wait and those of the body's readers.
    private func finish(_ end: Result<Data?, HTTPError>) {
        if case .failure(let error) = end { settle { (_) throws(HTTPError) in throw error } }
        let readers = state.withLock { $0.inbox.finish(end.mapError { $0 }) }
        for reader in readers { reader.resume(with: end.mapError { $0 }) }
    }

    /// Cancels its task, once and not when that is over: Foundation on Linux may fail to find a task that it has ended.
    ///
    /// Off the delegate's queue, since a task that is being cancelled waits for that.
    func stopTask() {
        let task = state.withLock { state -> URLSessionTask? in
            guard let task = state.task, !state.isStopped else { return nil }
            state.isStopped = true
            return task
        }
        guard let task else { return }
        DispatchQueue.global().async { task.cancel() }
    }
}

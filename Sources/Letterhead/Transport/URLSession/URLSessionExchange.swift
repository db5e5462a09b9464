// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    import Dispatch
    import Foundation
    import Synchronization

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// One request in a session. The loader, the delegate, the timers and the reader of the body share it. The first of
    /// them that settles it determines its result.
    final class URLSessionExchange: Sendable {
        typealias Caller = CheckedContinuation<Result<HTTPResponse, HTTPError>, Never>

        struct State {
            var task: URLSessionTask?
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
        let facts = TransportFacts()
        let ended = OneShot<Void>()
        private let startedAt = ContinuousClock.now
        let state = Mutex(State())

        init(request: HTTPRequest, configuration: TransportConfiguration, upload: URLSessionUpload) {
            (self.request, self.configuration, self.upload) = (request, configuration, upload)
            uploadMeter = request.onProgress.map {
                ProgressMeter(.upload, total: request.body.contentLength, report: $0)
            }
        }

        /// Sends the request. Returns the whole response, or its head if it is streamed.
        func run(over session: URLSession, in exchanges: URLSessionExchanges) async throws(HTTPError) -> HTTPResponse {
            exchanges.add(self)
            // If a reset has begun before, it did not find the exchange.
            if let cancellation = request.cancellation(mayHaveBeenSent: false) {
                exchanges.remove(self)
                throw cancellation
            }
            let task = upload.makeTask(in: session)
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

        /// Receives the head. Interim responses are ignored.
        func receive(_ response: URLResponse) {
            guard let head = response as? HTTPURLResponse, head.statusCode >= 200 else { return }
            let length = head.knownLength(of: request.method)
            let meter = ProgressMeter(of: HTTPStatus(head.statusCode), to: request, total: length)
            state.withLock { ($0.head, $0.downloadMeter) = (head, meter) }
            facts.metrics.firstByte = .now - startedAt
            guard request.responseDelivery != .buffered else { return }
            settle { _ in self.response(head, body: self.streamedBody(length: length)) }
        }

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

        /// Reports the progress of the request body, and restarts the timer for the first byte.
        func sent(_ bytes: Int64, of totalBytes: Int64) {
            #if canImport(FoundationNetworking)
                // On Linux the total is read when the delegate is called, and may already include later pieces.
                uploadMeter?.add(Int(clamping: bytes))
            #else
                uploadMeter?.note(Int(clamping: totalBytes))
            #endif
            waitForFirstByte()
        }

        #if !canImport(FoundationNetworking)
            /// Receives the Foundation metrics, which are reported before the end.
            func collect(_ metrics: URLSessionTaskMetrics) {
                if let last = metrics.transactionMetrics.last { facts.metrics = HTTPResponse.Metrics(last) }
            }
        #endif

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
                        ? TransportFailure.cancelled.error(for: request)
                        : HTTPError(endOf: request, error, head: head, receivedBytes: received)))
        }

        func cancel() {
            state.withLock { $0.isCancelled = true }
            fail(TransportFailure.cancelled.error(for: request))
        }

        func fail(_ error: HTTPError) {
            finish(.failure(error))
            stopTask()
        }

        /// Ends the request with the received response.
        func settle() {
            settle { (state) throws(HTTPError) in
                guard let head = state.head else {
                    throw HTTPError(
                        .invalidResponse, request: self.request, message: "the connection ended without a response")
                }
                guard let data = state.inbox.takeAll() else { throw TransportFailure.noMemory.error(for: self.request) }
                return self.response(head, body: HTTPResponseBody(data))
            }
        }

        /// Ends the request with the received response before the task has ended.
        func settleEarly() {
            noteTotal()
            settle()
            finish(.success(nil))
            stopTask()
        }

        private func response(_ head: HTTPURLResponse, body: HTTPResponseBody) -> HTTPResponse {
            var response = HTTPResponse(head, to: request, body: body)
            response.provide(facts)
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

        private func finish(_ end: Result<Data?, HTTPError>) {
            if case .failure(let error) = end { settle { (_) throws(HTTPError) in throw error } }
            let readers = state.withLock { $0.inbox.finish(end.mapError { $0 }) }
            for reader in readers { reader.resume(with: end.mapError { $0 }) }
        }

        /// Cancels the task once, unless it has ended: Foundation on Linux may not find a task that has ended.
        ///
        /// `cancel()` is called on a global queue and not on the delegate queue, because it waits for the delegate
        /// queue.
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

    /// How many bytes of a streamed body are buffered before the task is suspended, where that is possible.
    private let heldBytes = 1 << 20

    extension URLSessionExchange {
        func streamedBody(length: Int?) -> HTTPResponseBody {
            // The first closure has no capture list, because with one it would not run on the actor of the reader.
            .received(length: length) {
                try await self.read()
            } cancel: { [self] in
                cancel()
            }
        }

        /// Returns the next piece of a streamed body, or nil at the end.
        ///
        /// - Parameter isolation: the actor of the reader. A closure runs on an actor only if it captures the actor.
        private func read(isolation: isolated (any Actor)? = #isolation) async throws -> Data? {
            try await withTaskCancellationHandler {
                _ = isolation
                return try await withCheckedThrowingContinuation { reader in
                    let answer = state.withLock { $0.inbox.ask(reader) }
                    if let answer { reader.resume(with: answer) }
                    letGo()
                }
            } onCancel: {
                cancel()
            }
        }

        /// How many bytes of a body may be buffered. Any number if the body is streamed and the task can be suspended.
        var heldLimit: Int {
            #if canImport(FoundationNetworking)
                request.bufferLimit
            #else
                request.responseDelivery == .buffered ? request.responseLimit : .max
            #endif
        }

        /// Suspends the task while too many bytes are buffered. On Linux, a suspended task would start over when it is
        /// resumed. The task is therefore not suspended there, and ``heldLimit`` applies.
        func holdBack() {
            #if !canImport(FoundationNetworking)
                guard request.responseDelivery != .buffered else { return }
                // Called under the lock, because suspensions are counted and must not overtake the calls that end them.
                state.withLock { state in
                    if state.inbox.beginsRest(above: heldBytes) { state.task?.suspend() }
                }
            #endif
        }

        private func letGo() {
            #if !canImport(FoundationNetworking)
                state.withLock { state in
                    if state.inbox.endsRest(upTo: heldBytes) { state.task?.resume() }
                }
            #endif
        }
    }

    extension URLSessionExchange {
        /// Starts timers for the limits that Foundation doesn't support, or supports only in whole seconds.
        func startTimers() {
            waitForFirstByte()
            if let limit = request.timeout {
                after(limit) { [weak self] in
                    // The timeout doesn't apply to a streamed body, because its reader determines the pace. It applies
                    // to the body if the status isn't accepted.
                    guard let self, !isOpenEnded else { return }
                    expire("the attempt took longer than its timeout of \(limit)")
                }
            }
            if let left = request.timeLeft {
                after(left) { [weak self] in
                    guard let self else { return }
                    let hasHead = state.withLock { $0.head != nil }
                    fail(request.deadlinePassed(while: hasHead ? "receiving the body" : "waiting for the response"))
                }
            }
        }

        private var isOpenEnded: Bool {
            let head = state.withLock { $0.head }
            return head.map { request.isOpenEnded(after: HTTPStatus($0.statusCode)) } ?? false
        }

        /// Starts the timer for the first byte, and restarts it while the request is still being sent.
        func waitForFirstByte() {
            guard let limit = configuration.firstByteTimeout else { return }
            let wait = state.withLock { state in
                state.firstByteWait += 1
                return state.firstByteWait
            }
            after(limit) { [weak self] in
                guard let self, state.withLock({ $0.head == nil && $0.firstByteWait == wait }) else { return }
                expire("no byte of the response was received within the first-byte timeout of \(limit)")
            }
        }

        private func expire(_ message: String) {
            fail(HTTPError(.timedOut, request: request, message: message))
        }

        private func after(_ limit: Duration, _ action: @escaping @Sendable () -> Void) {
            DispatchQueue.global().asyncAfter(deadline: .now() + limit / .seconds(1), execute: action)
        }
    }
#endif

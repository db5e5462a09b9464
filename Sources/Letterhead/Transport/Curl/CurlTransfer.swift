#if os(Linux)
    import Foundation
    import Synchronization

    /// One request under way, shared by its caller and the thread that owns libcurl.
    ///
    /// It completes exactly once: by the thread or by a cancellation, whichever is first. The body of a streamed response
    /// arrives after that. A class, since both sides share it.
    final class CurlTransfer: Sendable {
        enum Outcome {
            /// The ``reply`` has arrived; of a streamed response its head.
            case success
            case failure(TransportFailure)
        }

        private enum State {
            case pending(CheckedContinuation<Void, Never>?)
            case completed(Outcome)
        }

        /// What is sent.
        let request: SharedRequest
        let plan: CurlPlan
        /// How many bytes a buffered body may have.
        let limit: Int
        /// Where a streamed body arrives; nil for a buffered one.
        let pipe: ReceivePipe?
        /// Timings and trailers, filled in when the transfer is over.
        let facts = TransportFacts()
        private let engine: CurlEngine
        private let state = Mutex(State.pending(nil))

        /// The handle that carries it while it is under way. `nonisolated(unsafe)`: only the thread uses it.
        nonisolated(unsafe) var wire: CurlWire?
        /// What has arrived, without a streamed body. `nonisolated(unsafe)`: only the thread uses it until the transfer
        /// completes. After that, only the caller of a buffered response changes it; of a streamed one, both read the head. A
        /// cancelled caller does not use it. Unchecked: no callback comes while it changes. The caller allocates it: memory that
        /// one thread allocates and another frees slows both down.
        @exclusivity(unchecked) nonisolated(unsafe) var reply = ReceivedResponse()

        init(_ plan: CurlPlan, for request: SharedRequest, engine: CurlEngine) {
            self.plan = plan
            self.request = request
            self.engine = engine
            limit = request.value.responseLimit
            let isWatched = request.value.onProgress != nil
            pipe = request.value.responseDelivery == .buffered && !isWatched ? nil : ReceivePipe()
            reply.head.reserveCapacity(Self.usualHeadSize)
            if pipe == nil { reply.body = GrowingBytes(capacity: Self.smallBodySize) }
        }

        private static let usualHeadSize = 480
        private static let smallBodySize = 960

        /// How many bytes may come. Coded, a small body may be a little larger than it is.
        func wireLimit(isCoded: Bool) -> Int { isCoded && limit < .max - 1024 ? limit + 1024 : limit }

        /// Starts it and waits until it completes.
        func run() async -> Outcome {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    guard keep(continuation) else { return continuation.resume() }
                    if !engine.post(.start(self)) { finish(.failure(.exhausted)) }
                }
            } onCancel: {
                cancel()
            }
            // Read under the lock: it orders the thread's writes to the reply before the caller's reads.
            return outcome ?? .failure(.cancelled)
        }

        /// Keeps the continuation until the transfer completes; false when it has.
        private func keep(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
            state.withLock { state in
                guard case .pending = state else { return false }
                state = .pending(continuation)
                return true
            }
        }

        /// Nil until it completes.
        private var outcome: Outcome? {
            state.withLock { state in
                if case .completed(let outcome) = state { outcome } else { nil }
            }
        }

        /// The next bytes of a streamed body; nil at the end.
        func read() async throws -> Data? {
            guard let pipe else { return nil }
            if !Task.isCancelled, let step = try pipe.take() { return taken(step) }
            return try await withTaskCancellationHandler {
                taken(try await pipe.read())
            } onCancel: {
                cancel()
            }
        }

        private func taken(_ step: ReceivePipe.Step) -> Data? {
            if step.isRoomMade { resume() }
            return step.bytes.isEmpty ? nil : step.bytes
        }

        /// Whether it has not completed.
        var isPending: Bool { outcome == nil }

        /// Resumes it on the thread: there is room for more of the response, or more of the request.
        func resume() { engine.post(.resume(self)) }

        /// Ends it at once, and lets the thread close the connection.
        func cancel() {
            finish(.failure(.cancelled))
            engine.post(.cancel(self))
        }

        /// Completes it, unless it has completed.
        func complete(_ outcome: Outcome) {
            let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
                guard case .pending(let continuation) = state else { return nil }
                state = .completed(outcome)
                return continuation
            }
            continuation?.resume()
        }

        /// Nothing more will happen: completes it, and ends the bodies of both directions.
        func finish(_ outcome: Outcome) {
            complete(outcome)
            if case .failure(let failure) = outcome { pipe?.end(failure) } else { pipe?.end() }
            if case .pulled(let source) = plan.content { source.close() }
        }
    }

    extension CurlTransfer {
        /// Makes a response of what has arrived: all of a buffered one, the head of a streamed one.
        func response() throws(HTTPError) -> HTTPResponse {
            do throws(TransportFailure) {
                let received = pipe == nil ? reply.body.take() : Data()
                return try reply.response(
                    to: request, with: received, facts: facts, decodingRatio: plan.decodingRatio, upTo: limit,
                    streaming: pipe == nil ? nil : { self.streamedBody(of: self.request.value, $0, $1) })
            } catch {
                cancel()
                // The status counts although the body cannot be read: the body of a redirect does not matter.
                var failure = error
                failure.head = reply.head
                throw failure.error(for: request.value)
            }
        }

        private func streamedBody(
            of request: HTTPRequest, _ length: Int?, _ decoder: ContentDecoder?
        ) -> HTTPResponseBody {
            let source: @Sendable () async throws -> Data? = { try await self.read() }
            let pull = decoder?.pull(source) ?? source
            let total = decoder == nil ? length : nil
            let meter = request.onProgress.map { ProgressMeter(.download, total: total, report: $0) }
            return HTTPResponseBody(
                length: total,
                // Without a list of what it captures: with one, it would not run where its reader does.
                pull: {
                    do {
                        let bytes = try await pull()
                        meter?.add(bytes?.count ?? 0)
                        return bytes
                    } catch let failure as TransportFailure {
                        throw failure.error(for: request)
                    }
                },
                cancel: { [self] in cancel() })
        }
    }
#endif

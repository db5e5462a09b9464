#if os(Linux)
    import Foundation
    import Synchronization

    /// One request under way, as its caller and the thread that owns libcurl share it.
    ///
    /// A class, for the identity by which it is cancelled. It is answered exactly once: by the thread, or by a
    /// cancellation, whichever is first. A streamed body goes on arriving behind the answer.
    final class CurlTransfer: Sendable {
        typealias Outcome = Result<CurlReply, TransportFailure>

        private enum State {
            case fresh
            case waiting(UnsafeContinuation<Outcome, Never>)
            case answered(Outcome)
            case over
        }

        let plan: CurlPlan
        /// How many bytes a buffered body may have.
        let limit: Int
        /// Whether the body may take as long as its reader likes.
        let isOpenEnded: Bool
        /// Where a streamed body arrives; nil for a buffered one.
        let pipe: CurlReceivePipe?
        /// Timings and trailers, filled in when the transfer is over.
        let facts = TransportFacts()
        private let engine: CurlEngine
        private let state = Mutex(State.fresh)

        /// The handle that carries it, as long as it is under way. `nonisolated(unsafe)`: it is read and written by the one
        /// alone who works the ``CurlLoop``, and that changes under the lock of its ``CurlMailbox``.
        nonisolated(unsafe) var wire: CurlWire?
        /// What has arrived, but for a streamed body. `nonisolated(unsafe)`: from its start on it is read and written by the
        /// one alone who works the ``CurlLoop``; the caller gets a copy with the answer. Unchecked: no callback comes while
        /// it changes. Its memory is allocated by the caller, who most often frees it too: what one thread allocates and
        /// another frees makes both wait.
        @exclusivity(unchecked) nonisolated(unsafe) var reply = CurlReply()

        init(_ plan: CurlPlan, for request: borrowing HTTPRequest, engine: CurlEngine) {
            self.plan = plan
            self.engine = engine
            limit = request.responseLimit
            isOpenEnded = request.responseDelivery == .streamed
            let isWatched = request.onProgress != nil
            pipe = request.responseDelivery == .buffered && !isWatched ? nil : CurlReceivePipe()
            reply.head.reserveCapacity(Self.usualHeadSize)
            if pipe == nil { reply.body.reserveCapacity(Self.smallBodySize) }
        }

        private static let usualHeadSize = 480
        private static let smallBodySize = 960

        /// How many bytes may come. Coded, a small body may be a little larger than it is.
        func wireLimit(isCoded: Bool) -> Int { isCoded && limit < .max - 1024 ? limit + 1024 : limit }

        /// Starts it and waits for the answer.
        func run() async -> Outcome {
            await withTaskCancellationHandler {
                let isStarted = engine.drive(self)
                if let early { return early }
                return await engine.executor.wait { continuation in
                    if let early = wait(continuation) { return continuation.resume(returning: early) }
                    if !isStarted, !engine.post(.start(self)) { finish(.failure(.exhausted)) }
                }
            } onCancel: {
                cancel()
            }
        }

        /// The next bytes of a streamed body; nil at the end.
        func read() async throws(TransportFailure) -> Data? {
            guard let pipe else { return nil }
            if !Task.isCancelled {
                var step = try pipe.take()
                if step == nil, engine.drive(reading: pipe) { step = try pipe.take() }
                if let step { return given(step, from: pipe) }
            }
            let result: Result<CurlReceivePipe.Step, TransportFailure> = await withTaskCancellationHandler {
                do throws(TransportFailure) {
                    return .success(try await pipe.read { engine.callThread(for: pipe) })
                } catch {
                    return .failure(error)
                }
            } onCancel: {
                cancel()
            }
            return given(try result.get(), from: pipe)
        }

        private func given(_ step: CurlReceivePipe.Step, from pipe: CurlReceivePipe) -> Data? {
            if step.isRoomMade { engine.resume(reading: self, pipe) }
            return step.bytes.isEmpty ? nil : step.bytes
        }

        /// Whether it has no answer yet.
        var isWanted: Bool {
            state.withLock { state in
                switch state {
                case .fresh, .waiting: true
                case .answered, .over: false
                }
            }
        }

        /// Whether it is little work to send it and to take its answer. TLS is not: it computes much, and older libraries
        /// of it raise signals on broken connections, which the loop's own thread blocks.
        var isQuick: Bool {
            guard pipe == nil, !plan.isSecure else { return false }
            switch plan.content {
            case .none, .copied: return true
            case .held, .pulled: return false
            }
        }

        /// The answer, when it was there before anybody waited for it.
        private var early: Outcome? {
            state.withLock { state in
                guard case .answered(let outcome) = state else { return nil }
                state = .over
                return outcome
            }
        }

        /// Lets the thread go on: there is room for more of the response, or more of the request.
        func resume() { engine.post(.resume(self)) }

        /// Ends it at once, and lets the thread drop the connection.
        func cancel() {
            finish(.failure(.cancelled))
            engine.post(.cancel(self))
        }

        /// Gives the answer, unless there was one before.
        func answer(_ outcome: Outcome) {
            let continuation = state.withLock { state -> UnsafeContinuation<Outcome, Never>? in
                switch state {
                case .fresh: state = .answered(outcome)
                case .waiting(let continuation):
                    state = .over
                    return continuation
                case .answered, .over: break
                }
                return nil
            }
            continuation?.resume(returning: outcome)
        }

        /// Nothing more will happen: answers, and ends the bodies of both directions.
        func finish(_ outcome: Outcome) {
            answer(outcome)
            if case .failure(let failure) = outcome { pipe?.end(failure) } else { pipe?.end() }
            if case .pulled(let source) = plan.content { source.close() }
        }

        private func wait(_ continuation: UnsafeContinuation<Outcome, Never>) -> Outcome? {
            state.withLock { state in
                guard case .answered(let outcome) = state else {
                    state = .waiting(continuation)
                    return nil
                }
                state = .over
                return outcome
            }
        }
    }
#endif

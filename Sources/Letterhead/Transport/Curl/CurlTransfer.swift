#if os(Linux)
    import Foundation
    import Synchronization

    /// One request under way, as its caller and the thread that owns libcurl share it.
    ///
    /// It is answered exactly once: by the thread, or by a cancellation, whichever is first. A streamed body goes on
    /// arriving behind the answer.
    ///
    /// An actor, for the sake of the one who waits for the answer: a task that comes to it is held until there is one. It
    /// has no state but what others share with it.
    actor CurlTransfer {
        enum Outcome {
            /// The ``reply`` is there; of a streamed body its head.
            case success
            case failure(TransportFailure)
        }

        private struct State {
            var isAnswered = false
            /// Why it failed, once it is answered; nil when the ``reply`` is there.
            var failure: TransportFailure?
            /// The task that waits; more than one job only if the runtime asks for it again.
            var waiting: UnownedJob?
            var others: [UnownedJob] = []
        }

        /// What is sent.
        let request: SharedRequest
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
        private let state = Mutex(State())

        /// The handle that carries it, as long as it is under way. `nonisolated(unsafe)`: it is read and written by the one
        /// alone who works the ``CurlLoop``, and that changes under the lock of its ``CurlMailbox``.
        nonisolated(unsafe) var wire: CurlWire?
        /// What has arrived, but for a streamed body. `nonisolated(unsafe)`: from its start on it is read and written by the
        /// one alone who works the ``CurlLoop``; the caller reads it behind an answer of success, and nobody writes any more
        /// then. Unchecked: no callback comes while it changes. Its memory is allocated by the caller, who most often frees
        /// it, too: what one thread allocates and another frees makes both wait.
        @exclusivity(unchecked) nonisolated(unsafe) var reply = CurlReply()

        init(_ plan: CurlPlan, for request: SharedRequest, engine: CurlEngine) {
            self.plan = plan
            self.request = request
            self.engine = engine
            limit = request.value.responseLimit
            isOpenEnded = request.value.responseDelivery == .streamed
            let isWatched = request.value.onProgress != nil
            pipe = request.value.responseDelivery == .buffered && !isWatched ? nil : CurlReceivePipe()
            reply.head.reserveCapacity(Self.usualHeadSize)
            if pipe == nil { reply.body.reserveCapacity(Self.smallBodySize) }
        }

        private static let usualHeadSize = 480
        private static let smallBodySize = 960

        /// How many bytes may come. Coded, a small body may be a little larger than it is.
        nonisolated func wireLimit(isCoded: Bool) -> Int { isCoded && limit < .max - 1024 ? limit + 1024 : limit }

        /// Starts it and waits for the answer.
        nonisolated func run() async -> Outcome {
            await withTaskCancellationHandler {
                if engine.drive(self) {
                    if let outcome { return outcome }
                } else if !engine.post(.start(self)) {
                    finish(.failure(.exhausted))
                }
                return await answered()
            } onCancel: {
                cancel()
            }
        }

        /// The next bytes of a streamed body; nil at the end.
        nonisolated func read() async throws(TransportFailure) -> Data? {
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

        private nonisolated func given(_ step: CurlReceivePipe.Step, from pipe: CurlReceivePipe) -> Data? {
            if step.isRoomMade { engine.resume(reading: self, pipe) }
            return step.bytes.isEmpty ? nil : step.bytes
        }

        /// Whether it has no answer yet.
        nonisolated var isWanted: Bool { state.withLock { !$0.isAnswered } }

        private nonisolated var outcome: Outcome? {
            state.withLock { state in
                guard state.isAnswered else { return nil }
                return state.failure.map { .failure($0) } ?? .success
            }
        }

        /// Whether it is little work to send it and to take its answer. TLS is not: it computes much, and older libraries
        /// of it raise signals on broken connections, which the loop's own thread blocks.
        nonisolated var isQuick: Bool {
            guard pipe == nil, !plan.isSecure else { return false }
            switch plan.content {
            case .none, .copied: return true
            case .held, .pulled: return false
            }
        }

        /// Lets the thread go on: there is room for more of the response, or more of the request.
        nonisolated func resume() { engine.post(.resume(self)) }

        /// Ends it at once, and lets the thread drop the connection.
        nonisolated func cancel() {
            finish(.failure(.cancelled))
            engine.post(.cancel(self))
        }

        /// Gives the answer, unless there was one before.
        nonisolated func answer(_ outcome: Outcome) {
            let (waiting, others) = state.withLock { state -> (UnownedJob?, [UnownedJob]) in
                if state.isAnswered { return (nil, []) }
                state.isAnswered = true
                if case .failure(let failure) = outcome { state.failure = failure }
                return (state.waiting, state.others)
            }
            if let waiting { engine.pool.run(waiting) }
            for job in others { engine.pool.run(job) }
        }

        /// Nothing more will happen: answers, and ends the bodies of both directions.
        nonisolated func finish(_ outcome: Outcome) {
            answer(outcome)
            if case .failure(let failure) = outcome { pipe?.end(failure) } else { pipe?.end() }
            if case .pulled(let source) = plan.content { source.close() }
        }
    }

    // MARK: Waiting

    extension CurlTransfer: SerialExecutor {
        nonisolated var unownedExecutor: UnownedSerialExecutor { asUnownedSerialExecutor() }

        /// The answer: who calls it is held by `enqueue(_:)` until it is there.
        func answered() -> Outcome {
            // Nobody comes here without one: a task gets here by its job alone, and only ``answer(_:)`` and `enqueue(_:)` run
            // that, both behind `isAnswered`, which nothing takes back.
            guard let outcome else { preconditionFailure("a task goes on without an answer") }
            return outcome
        }

        /// Everything is isolated enough: there is nothing here that only one task may touch, and who was held goes on where
        /// any task may.
        nonisolated func checkIsolated() {}

        /// Holds a task until there is an answer. One that was answered before it came leaves by way of the pool, so that no
        /// stack grows with their number.
        nonisolated func enqueue(_ job: UnownedJob) {
            let isAnswered = state.withLock { state in
                if state.isAnswered { return true }
                if state.waiting == nil { state.waiting = job } else { state.others.append(job) }
                return false
            }
            // Unless it is answered, the task may have gone on by now, and the transfer with it.
            if isAnswered { engine.pool.run(job) }
        }
    }
#endif

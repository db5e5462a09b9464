// SPDX-License-Identifier: MIT
#if os(Linux)
    import LetterheadFoundation
    import Synchronization

    /// One transfer, shared by its caller and the thread of a ``CurlLoop``. A carrier moves its bytes.
    ///
    /// The thread or a cancellation completes it, exactly once. The body of a streamed response arrives after the
    /// completion.
    final class Exchange: Sendable {
        enum Outcome {
            /// The ``reply`` has arrived: the whole response, or the head of a streamed response.
            case success
            case failure(TransportFailure)
        }

        private enum State {
            case pending(CheckedContinuation<Void, Never>?)
            case completed(Outcome)
        }

        let request: HTTPRequest
        let plan: CurlPlan
        let limit: Int
        /// The pipe that receives a body that is read in pieces, or nil if the body is collected in ``reply``.
        let pipe: ReceivePipe?
        /// Timings and trailers. They are complete when the transfer has ended.
        let facts = TransportFacts()
        private let engine: CurlEngine
        private let state = Mutex(State.pending(nil))

        // `nonisolated(unsafe)`: only the thread uses these properties, except that the caller creates the handle.
        // Their exclusivity is unchecked, because libcurl calls no callback while they change.

        /// Carries the transfer from the end of its wait until its own end.
        @safe @exclusivity(unchecked) nonisolated(unsafe) var carrier: CurlCarrier?
        /// The direct connection that carries the transfer instead, after a carrier has opened it.
        @safe @exclusivity(unchecked) nonisolated(unsafe) var connection: DirectConnection?
        @safe @exclusivity(unchecked) nonisolated(unsafe) var progress = Progress()
        /// The index in ``CurlLoop/active``.
        @safe @exclusivity(unchecked) nonisolated(unsafe) var place = 0
        /// The queue of the origin, and the ticket while the transfer waits there for a connection.
        @safe @exclusivity(unchecked) nonisolated(unsafe) var lane: ConnectionQueue<Exchange>.Lane?
        @safe @exclusivity(unchecked) nonisolated(unsafe) var ticket: ConnectionQueue<Exchange>.Ticket?
        /// The received lines of the trailers.
        @safe @exclusivity(unchecked) nonisolated(unsafe) var trailers: [UInt8] = []
        /// A handle for this transfer alone, or nil if the thread reuses a handle. The caller creates it and usually
        /// releases it, because that would be a fifth of the work on the thread, which all callers share. The carrier
        /// holds it as well, until it has left the multi handle and the share.
        @safe @exclusivity(unchecked) nonisolated(unsafe) var handle: CurlHandle?
        /// What has arrived from the response, except for a streamed body.
        ///
        /// `nonisolated(unsafe)`: only the thread uses it until the transfer completes. After that, only the caller
        /// changes a buffered response, and both the thread and the caller read the head of a streamed response. A
        /// cancelled caller doesn't use it.
        ///
        /// Exclusivity is unchecked, because libcurl calls no callback while the reply changes. The caller allocates
        /// the memory of the reply, because memory that one thread allocates and a different thread frees slows down
        /// both.
        @safe @exclusivity(unchecked) nonisolated(unsafe) var reply = ReceivedResponse()

        init(_ plan: CurlPlan, for request: HTTPRequest, engine: CurlEngine, handle: CurlHandle? = nil) {
            self.handle = handle
            self.plan = plan
            self.request = request
            self.engine = engine
            limit = request.responseLimit
            progress.rules = ResponseRules(limit: plan.headLimit)
            pipe = request.responseDelivery == .buffered && request.onProgress == nil ? nil : ReceivePipe()
            reply.head.reserveCapacity(Self.usualHeadSize)
            if pipe == nil { reply.body = GrowingBytes(capacity: Self.smallBodySize) }
        }

        private static let usualHeadSize = 480
        private static let smallBodySize = 960

        func run() async -> Outcome {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isPending = state.withLock { state in
                        guard case .pending = state else { return false }
                        state = .pending(continuation)
                        return true
                    }
                    guard isPending else { return continuation.resume() }
                    if !engine.post(.start(self)) { finish(.failure(.exhausted)) }
                }
            } onCancel: {
                cancel()
            }
            // The outcome is read under the lock, so that what the thread has written to the reply is visible to the
            // caller.
            return outcome ?? .failure(.cancelled)
        }

        private var outcome: Outcome? {
            state.withLock { state in
                if case .completed(let outcome) = state { outcome } else { nil }
            }
        }

        /// Returns the next bytes of a streamed body, or nil at the end.
        ///
        /// - Parameter isolation: the actor of the reader. A closure runs on an actor only if it captures the actor,
        ///   and changing the actor changes the thread.
        func read(isolation: isolated (any Actor)? = #isolation) async throws -> Data? {
            guard let pipe else { return nil }
            if !Task.isCancelled, let step = try pipe.take() { return taken(step) }
            return try await withTaskCancellationHandler {
                _ = isolation
                return taken(try await pipe.read())
            } onCancel: {
                cancel()
            }
        }

        private func taken(_ step: ReceivePipe.Step) -> Data? {
            if step.isRoomMade { resume() }
            return step.bytes.isEmpty ? nil : step.bytes
        }

        var isPending: Bool { outcome == nil }

        /// Whether the loop has the transfer: it waits or is in progress.
        var isActive: Bool { lane != nil }

        /// Resumes the transfer on the thread, when the response has room for more bytes or the request has more bytes
        /// to send.
        func resume() { engine.post(.resume(self)) }

        /// Completes the transfer at once, and lets the thread close its connection.
        func cancel() {
            finish(.failure(.cancelled))
            engine.post(.cancel(self))
        }

        func complete(_ outcome: Outcome) {
            let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
                guard case .pending(let continuation) = state else { return nil }
                state = .completed(outcome)
                return continuation
            }
            continuation?.resume()
        }

        /// Completes the transfer, and ends the bodies of the request and the response.
        func finish(_ outcome: Outcome) {
            complete(outcome)
            if case .failure(let failure) = outcome { pipe?.end(failure) } else { pipe?.end() }
            if case .pulled(let source) = plan.content { source.close() }
        }
    }

    extension Exchange {
        /// Creates the response: from the whole reply if it is buffered, from the head if it is streamed.
        func response() throws(HTTPError) -> HTTPResponse {
            do throws(TransportFailure) {
                let received = pipe == nil ? reply.body.take() : Data()
                return try reply.response(
                    to: request, with: received, facts: facts, decodingRatio: plan.decodingRatio, upTo: limit,
                    streaming: pipe == nil ? nil : { self.streamedBody(of: self.request, $0, $1, $2) })
            } catch {
                cancel()
                // The error includes the head, because the status counts even if the body cannot be read. For example,
                // the body of a redirect doesn't matter.
                var failure = error
                failure.head = reply.head
                return try failure.error(for: request).judgedByStatus()
            }
        }

        private func streamedBody(
            of request: HTTPRequest, _ status: HTTPStatus, _ length: Int?, _ decoder: ContentDecoder?
        ) -> HTTPResponseBody {
            let source: @Sendable () async throws -> Data? = { try await self.read() }
            let pull = decoder?.pull(source) ?? source
            let total = decoder == nil ? length : nil
            let meter = ProgressMeter(of: status, to: request, total: total)
            return .received(
                length: total,
                // The closure has no capture list, because with one it would not run on the actor of the reader.
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

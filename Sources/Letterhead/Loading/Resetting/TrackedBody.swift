import Foundation
import Synchronization

/// A streamed body that can be ended by code other than its reader.
///
/// It is a class, because the reader and the link that ends it share its state. If cancelling the body ends a pull, as
/// for a body from `HTTPResponseBody.received`, a piece is pulled in the reader's task. Otherwise, it is pulled in a
/// separate task, because the link must not cancel the task of the reader.
final class TrackedBody: Sendable {
    private enum State {
        case idle(HTTPResponseBody.Iterator)
        case pulling(OwnedWork)
        case cancelled
        case over
    }

    private let request: HTTPRequest
    private let state: Mutex<State>
    private let onEnd: @Sendable (TrackedBody) -> Void
    private let lease: ResourceLease?

    /// - Parameter onEnd: called once, when no more pieces will be pulled.
    init(_ body: HTTPResponseBody, of request: HTTPRequest, onEnd: @escaping @Sendable (TrackedBody) -> Void) {
        self.request = request
        self.onEnd = onEnd
        lease = ResourceLedger.lease("the streamed body of \(request.outline), which was neither read nor dropped")
        state = Mutex(.idle(body.makeAsyncIterator()))
    }

    /// Returns the body for its reader. Dropping it unread ends it.
    func body(length: Int?) -> HTTPResponseBody {
        HTTPResponseBody(length: length) {
            try await self.next()
        } cancel: {
            if case .pulling(let pull) = self.end(as: .over) { pull.cancel() }
        }
    }

    /// Ends the body with `.cancelled`, and returns when no piece is being pulled any more. If the caller is itself
    /// pulling a piece, the call does not wait for the end of the pull.
    func cancel() async {
        guard case .pulling(let pull) = end(as: .cancelled) else { return }
        pull.cancel()
        await pull.ended()
    }

    private func next() async throws -> Data? {
        let (chunks, pull) = try state.withLock { state in
            guard case .idle(let chunks) = state else { throw refusal(in: state) }
            let pull = OwnedWork(isDirect: chunks.endsWhenCancelled)
            state = .pulling(pull)
            return (chunks, pull)
        }
        guard chunks.endsWhenCancelled else {
            return try await pull.runInTask { await self.pull(from: chunks) }.get()
        }
        pull.onCancel { chunks.cancel() }
        return try await pull.run { await self.pull(from: chunks) }.get()
    }

    private func pull(from chunks: HTTPResponseBody.Iterator) async -> Result<Data?, any Error> {
        var chunks = chunks
        do {
            if let chunk = try await chunks.nextPiece() {
                try goOn(with: chunks)
                return .success(chunk)
            }
        } catch {
            if case .cancelled = end(as: .over) { return .failure(refusal(in: .cancelled)) }
            return .failure(error)
        }
        if case .cancelled = end(as: .over) { return .failure(refusal(in: .cancelled)) }
        return .success(nil)
    }

    private func goOn(with chunks: HTTPResponseBody.Iterator) throws {
        try state.withLock { state in
            guard case .pulling = state else { throw refusal(in: state) }
            state = .idle(chunks)
        }
    }

    /// Ends the body unless it has ended, and returns its previous state.
    @discardableResult
    private func end(as last: State) -> State {
        let (before, isNew) = state.withLock { state in
            let before = state
            switch state {
            case .idle, .pulling: state = last
            case .cancelled, .over: return (before, false)
            }
            return (before, true)
        }
        if isNew {
            lease?.release()
            onEnd(self)
        }
        return before
    }

    private func refusal(in state: State) -> any Error {
        guard case .cancelled = state else { return HTTPBodyError.alreadyRead }
        return HTTPError(.cancelled, request: request, message: "the chain was reset while the body was read")
    }
}

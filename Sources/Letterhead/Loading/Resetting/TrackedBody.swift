import Foundation
import Synchronization

/// A streamed body that can be ended by code other than its reader.
///
/// It is a class, because the reader and the link that ends it share its state. Each piece is pulled in a separate
/// task, because the link must not cancel the reader's task.
final class TrackedBody: Sendable {
    private enum State {
        case idle(HTTPResponseBody.Iterator)
        /// The reader awaits the task and passes cancellation on to it. The link that ends the body can cancel it, too.
        case pulling(Task<Data?, any Error>)
        case cancelled
        case over
    }

    private let request: HTTPRequest
    private let state: Mutex<State>
    private let onEnd: @Sendable (TrackedBody) -> Void

    /// - Parameter onEnd: called once, when no more pieces will be pulled.
    init(_ body: HTTPResponseBody, of request: HTTPRequest, onEnd: @escaping @Sendable (TrackedBody) -> Void) {
        self.request = request
        self.onEnd = onEnd
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

    /// Ends the body with `.cancelled`, and returns when no piece is being pulled any more, unless the caller is the
    /// code that pulls.
    func cancel() async {
        guard case .pulling(let pull) = end(as: .cancelled) else { return }
        if !pull.cancelsCaller() { _ = await pull.result }
    }

    private func next() async throws -> Data? {
        let pull = try state.withLock { state in
            guard case .idle(let chunks) = state else { throw refusal(in: state) }
            let pull = Task { try await self.pull(from: chunks) }
            state = .pulling(pull)
            return pull
        }
        return try await withTaskCancellationHandler {
            try await pull.value
        } onCancel: {
            pull.cancel()
        }
    }

    private func pull(from chunks: HTTPResponseBody.Iterator) async throws -> Data? {
        var chunks = chunks
        do {
            if let chunk = try await chunks.next() {
                try goOn(with: chunks)
                return chunk
            }
        } catch {
            if case .cancelled = end(as: .over) { throw refusal(in: .cancelled) }
            throw error
        }
        if case .cancelled = end(as: .over) { throw refusal(in: .cancelled) }
        return nil
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
        if isNew { onEnd(self) }
        return before
    }

    private func refusal(in state: State) -> any Error {
        guard case .cancelled = state else { return HTTPBodyError.alreadyRead }
        return HTTPError(.cancelled, request: request, message: "the chain was reset while the body was read")
    }
}

import Foundation
import Synchronization

/// A body that is still arriving, which can be ended by somebody else than its reader.
///
/// A class, because the reader and whoever ends it share its state. Each piece is pulled in a task of its own, since the
/// reader's task is not ours to cancel.
final class TrackedBody: Sendable {
    private enum State {
        case idle(HTTPResponseBody.Iterator)
        /// The task belongs to the reader, who awaits it and passes cancellation on, and to whoever ends the body.
        case pulling(Task<Data?, any Error>)
        case cancelled
        case over
    }

    private let request: HTTPRequest
    private let state: Mutex<State>
    private let onEnd: @Sendable (TrackedBody) -> Void

    /// - Parameter onEnd: called once, when nothing more will be pulled.
    init(_ body: HTTPResponseBody, of request: HTTPRequest, onEnd: @escaping @Sendable (TrackedBody) -> Void) {
        self.request = request
        self.onEnd = onEnd
        state = Mutex(.idle(body.makeAsyncIterator()))
    }

    /// The body for its reader; dropping it unread ends it.
    func body(length: Int?) -> HTTPResponseBody {
        HTTPResponseBody(length: length) {
            try await self.next()
        } cancel: {
            if case .pulling(let pull) = self.end(as: .over) { pull.cancel() }
        }
    }

    /// Ends it with `.cancelled`, and returns when nothing is pulled any more, unless the caller is what is pulled.
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

    /// Ends it unless it has ended, and says how it was before.
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

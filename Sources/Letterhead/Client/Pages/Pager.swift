// SPDX-License-Identifier: MIT
import Synchronization

extension HTTPClient {
    /// Returns a pager, which loads one page for each call of ``Pager/next()``. Use it for a list that loads more when
    /// the user scrolls.
    ///
    /// - Parameters:
    ///   - template: a template with a pagination.
    ///   - checkpoint: where to start. Default: nil (at the page of the template).
    ///   - settings: limits and delays. Default: no delay and no deadline.
    public func pager<Template: PaginatedTemplate>(
        of template: Template, from checkpoint: PageCheckpoint? = nil, settings: PageSettings = PageSettings()
    ) -> Pager<Template> {
        Pager(
            PageReader(self, template, from: checkpoint, settings),
            first: PageReader(self, template, from: nil, settings))
    }
}

/// Loads pages one at a time, on demand. All tasks that show a list can share it.
///
/// ```swift
/// let pager = client.pager(of: ListFollowers(login: "ada").paginated())
/// while let page = try await pager.next() { show(page.value) }
/// ```
///
/// Create it with ``HTTPClient/pager(of:from:settings:)``. Each call of ``next()`` returns a different page.
///
/// - Concurrent calls wait in a queue and receive successive pages in order.
/// - After an error, the next call requests the same page again, or throws the same error if that page cannot be
///   determined.
/// - If a call is cancelled, the next call in the queue receives its page. If no call is left in the queue, the page is
///   no longer loaded.
///
/// After ``HTTPClient/reset()``, the pager starts again at the first page and ignores its checkpoint, because a cursor
/// may be valid only for the previous user.
public final class Pager<Template: PaginatedTemplate>: Sendable {
    private typealias Call = OneShot<Result<Page<Template.Response>?, any Error>>

    private struct State {
        /// Where ``Pager/reset()`` begins: at the checkpoint, or at the first page after a client reset.
        let start: PageReader<Template>
        var reader: PageReader<Template>
        /// Changes when the current load is abandoned, so that its result is discarded.
        var turn = 0
        var hasMore = true
        /// The load for the first call in the queue.
        var load: Task<Void, Never>?
        var calls: [Call] = []

        init(at start: PageReader<Template>) { (self.start, reader) = (start, start.begun()) }

        /// Whether the client was reset since the first page.
        var isStale: Bool { reader.generation.hasEnded }

        /// Restarts with a reader, and returns the previous state. After releasing the lock, end its load and its
        /// calls, and release its values: deallocating them may cancel a waiting call.
        mutating func restart(at start: PageReader<Template>) -> State {
            let past = self
            self = State(at: start)
            turn = past.turn + 1
            return past
        }

        func end() {
            load?.cancel()
            for call in calls { call.set(.failure(CancellationError())) }
        }
    }

    /// A reader at the first page, for the start after a client reset.
    private let first: PageReader<Template>
    private let state: Mutex<State>

    init(_ start: PageReader<Template>, first: PageReader<Template>) {
        self.first = first
        state = Mutex(State(at: start))
    }

    deinit { state.withLock { $0.load.take() }?.cancel() }

    /// Whether there may be a further page. True until the last page has been returned, and again after a reset.
    public var hasMore: Bool { state.withLock { $0.hasMore || $0.isStale } }

    var waiting: Int { state.withLock { $0.calls.count } }

    /// Returns the next page, or nil after the last one.
    ///
    /// - Throws: ``HTTPError``, or `CancellationError` if the calling task was cancelled or the pager was reset during
    ///   the call.
    public func next() async throws -> Page<Template.Response>? {
        try Task.checkCancellation()
        let call = Call()
        return try await withTaskCancellationHandler {
            join(call)
            return try await call.value.get()
        } onCancel: {
            leave(call)
        }
    }

    /// Starts again at the checkpoint. Without a checkpoint, or after a client reset, the pager starts at the first
    /// page. Waiting calls throw `CancellationError`, and a page that is still loading is discarded.
    public func reset() { state.withLock { $0.restart(at: $0.isStale ? first : $0.start) }.end() }
}

extension Pager {
    private func join(_ call: Call) {
        let past = state.withLock { state -> State? in
            let past = state.isStale ? state.restart(at: first) : nil
            state.calls.append(call)
            loadIfNeeded(&state)
            return past
        }
        past?.end()
        // A call that is cancelled before it has joined the queue isn't found there.
        if Task.isCancelled { leave(call) }
    }

    /// Starts the load for the first call, unless a load is running. It is called under the lock, which the task takes
    /// only when it finishes.
    private func loadIfNeeded(_ state: inout State) {
        guard state.load == nil, !state.calls.isEmpty else { return }
        state.load = Task { [weak self, reader = state.reader, turn = state.turn] in
            var reader = reader
            let result: Result<Page<Template.Response>?, any Error>
            do { result = .success(try await reader.next()) } catch { result = .failure(error) }
            self?.finish(result, reader, turn)
        }
    }

    /// Removes a cancelled call from the queue. A call that isn't in the queue receives its page.
    private func leave(_ call: Call) {
        let (waiting, load) = state.withLock { state -> (Call?, Task<Void, Never>?) in
            guard let index = state.calls.firstIndex(where: { $0 === call }) else { return (nil, nil) }
            state.calls.remove(at: index)
            guard state.calls.isEmpty else { return (call, nil) }
            state.turn += 1
            return (call, state.load.take())
        }
        load?.cancel()
        waiting?.set(.failure(CancellationError()))
    }

    private func finish(
        _ result: Result<Page<Template.Response>?, any Error>, _ reader: PageReader<Template>, _ turn: Int
    ) {
        // The previous reader and the finished task are deallocated after the lock is released.
        let (call, _, _) = state.withLock { state -> (Call?, PageReader<Template>?, Task<Void, Never>?) in
            guard state.turn == turn else { return (nil, nil, nil) }
            let past = (state.reader, state.load.take())
            state.reader = reader
            if case .success(let page) = result { state.hasMore = page?.checkpoint != nil && !reader.isAtMaximum }
            let call = state.calls.isEmpty ? nil : state.calls.removeFirst()
            loadIfNeeded(&state)
            return (call, past.0, past.1)
        }
        call?.set(result)
    }
}

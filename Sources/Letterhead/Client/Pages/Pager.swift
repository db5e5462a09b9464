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
    private typealias Waiter = CheckedContinuation<Page<Template.Response>?, any Error>

    private struct State {
        var reader: PageReader<Template>
        /// Changes when the current load is abandoned, so that its result is discarded.
        var turn = 0
        var hasMore = true
        /// The load for the first call in the queue.
        var load: Task<Void, Never>?
        var waiters: [(number: Int, waiter: Waiter)] = []
        var lastWaiter = 0

        /// Restarts with a reader, and returns the previous state. After releasing the lock, end its load and its
        /// waiters, and release its values: deallocating them may cancel a waiting call.
        mutating func restart(with reader: PageReader<Template>) -> State {
            let past = self
            self = State(reader: reader, turn: turn + 1, lastWaiter: lastWaiter)
            return past
        }

        func end() {
            load?.cancel()
            for (_, waiter) in waiters { waiter.resume(throwing: CancellationError()) }
        }
    }

    /// At the checkpoint and at the first page.
    private let (start, first): (PageReader<Template>, PageReader<Template>)
    /// The client's generation when the pager was created.
    private let generation: ClientGeneration
    private let state: Mutex<State>

    init(_ start: PageReader<Template>, first: PageReader<Template>) {
        (self.start, self.first, generation) = (start, first, start.generation)
        state = Mutex(State(reader: start.begun()))
    }

    deinit { state.withLock { $0.load.take() }?.cancel() }

    /// Whether there may be another page. True until the last page has been returned.
    public var hasMore: Bool { state.withLock { $0.hasMore || $0.reader.generation.hasEnded } }

    var waiting: Int { state.withLock { $0.waiters.count } }

    /// Returns the next page, or nil after the last one.
    ///
    /// - Throws: ``HTTPError``, or `CancellationError` if the calling task was cancelled or the pager was reset during
    ///   the call.
    public func next() async throws -> Page<Template.Response>? {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait($0, as: number) }
        } onCancel: {
            leave(number)
        }
    }

    /// Starts again at the checkpoint. Without a checkpoint, or after a client reset, the pager starts at the first
    /// page. Waiting calls throw `CancellationError`, and a page that is still loading is discarded.
    public func reset() {
        let reader = makeReader()
        state.withLock { $0.restart(with: reader) }.end()
    }

    /// At the checkpoint, or at the first page if the client was reset after the pager was created.
    private func makeReader() -> PageReader<Template> { (generation.hasEnded ? first : start).begun() }
}

extension Pager {
    private func wait(_ waiter: Waiter, as number: Int) {
        if Task.isCancelled { return waiter.resume(throwing: CancellationError()) }
        let reader = makeReader()
        let past = state.withLock { state -> State? in
            let past = state.reader.generation.hasEnded ? state.restart(with: reader) : nil
            state.waiters.append((number, waiter))
            loadIfNeeded(&state)
            return past
        }
        past?.end()
        // A call that is cancelled before it has joined the queue isn't found there.
        if Task.isCancelled { leave(number) }
    }

    /// Starts the load for the first call, unless a load is running. The task does not need the lock before it
    /// finishes.
    private func loadIfNeeded(_ state: inout State) {
        guard state.load == nil, !state.waiters.isEmpty else { return }
        state.load = Task { [weak self, reader = state.reader, turn = state.turn] in
            var reader = reader
            let result: Result<Page<Template.Response>?, any Error>
            do { result = .success(try await reader.next()) } catch { result = .failure(error) }
            self?.finish(result, reader, turn)
        }
    }

    private func leave(_ number: Int) {
        let (waiter, load) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
            guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return (nil, nil) }
            let waiter = state.waiters.remove(at: index).waiter
            guard state.waiters.isEmpty else { return (waiter, nil) }
            state.turn += 1
            return (waiter, state.load.take())
        }
        load?.cancel()
        waiter?.resume(throwing: CancellationError())
    }

    private func finish(
        _ result: Result<Page<Template.Response>?, any Error>, _ reader: PageReader<Template>, _ turn: Int
    ) {
        // The previous reader and the finished task are deallocated after the lock is released.
        let (waiter, _, _) = state.withLock { state -> (Waiter?, PageReader<Template>?, Task<Void, Never>?) in
            guard state.turn == turn else { return (nil, nil, nil) }
            let past = (state.reader, state.load.take())
            state.reader = reader
            if case .success(let page) = result { state.hasMore = page?.checkpoint != nil && !reader.isAtMaximum }
            let waiter = state.waiters.isEmpty ? nil : state.waiters.removeFirst().waiter
            loadIfNeeded(&state)
            return (waiter, past.0, past.1)
        }
        waiter?.resume(with: result)
    }
}

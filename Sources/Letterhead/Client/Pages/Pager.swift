// SPDX-License-Identifier: MIT
import Synchronization

extension HTTPClient {
    /// Returns a pager, which loads one page for each call of ``Pager/next()``, beginning at a checkpoint if there is
    /// one. Use it, for example, for a list that loads more when the user scrolls.
    public func pager<Template: PaginatedTemplate>(
        of template: Template, from checkpoint: PageCheckpoint? = nil, walk: PageWalk = PageWalk()
    ) -> Pager<Template> {
        Pager(PageSource(client: self, template: template, checkpoint: checkpoint, walk: walk) { _ in nil })
    }
}

/// Loads pages one at a time, on demand, and can be shared by all tasks that show a list.
/// ``HTTPClient/pager(of:from:walk:)`` creates it.
///
/// ```swift
/// let pager = client.pager(of: ListFollowers(login: "ada").paginated())
/// while let page = try await pager.next() { show(page.value) }
/// ```
///
/// Each call of ``next()`` returns a different page. Concurrent calls wait in a queue and receive successive pages, in
/// the order of the calls. After an error, the next call requests the same page again, or throws the same error if that
/// page cannot be determined. If a call is cancelled, the next call in the queue receives its page. If no call is left
/// in the queue, the load is cancelled.
///
/// After ``HTTPClient/reset()``, the pager starts again at the first page and ignores its checkpoint, because a cursor
/// may be valid only for the previous user.
public final class Pager<Template: PaginatedTemplate>: Sendable {
    private typealias Iterator = PageSource<Template>.Iterator
    private typealias Waiter = CheckedContinuation<Page<Template.Response>?, any Error>

    private struct State {
        var iterator: Iterator
        var hasMore = true
        /// The load for the first call in the queue.
        var load: Task<Void, Never>?
        var generation = 0
        var waiters: [(number: Int, waiter: Waiter)] = []
        var left: Set<Int> = []
        var lastWaiter = 0

        /// Restarts at an iterator, and returns the values that belong to the previous one.
        mutating func restart(at iterator: Iterator) -> Past {
            let past = Past(iterator: self.iterator, load: load, waiters: waiters.map(\.waiter))
            (self.iterator, load, waiters, hasMore) = (iterator, nil, [], true)
            generation += 1
            return past
        }
    }

    /// The values that a restart removes. They must be cancelled and released after the lock is released: their
    /// deallocation may cancel a waiting call.
    private struct Past {
        let iterator: Iterator
        let load: Task<Void, Never>?
        let waiters: [Waiter]

        func end() {
            load?.cancel()
            for waiter in waiters { waiter.resume(throwing: CancellationError()) }
        }
    }

    private let pages: PageSource<Template>
    /// The generation of the client in which the pager was created.
    private let generation: ClientGeneration
    private let state: Mutex<State>

    init(_ pages: PageSource<Template>) {
        self.pages = pages
        generation = pages.generation
        state = Mutex(State(iterator: pages.makeAsyncIterator()))
    }

    deinit { state.withLock { $0.load.take() }?.cancel() }

    /// Whether there may be another page. It is true until the last page has been returned.
    public var hasMore: Bool { state.withLock { $0.hasMore || $0.iterator.isStale } }

    package var waiting: Int { state.withLock { $0.waiters.count } }

    /// Returns the next page, or nil after the last one.
    ///
    /// - Throws: ``HTTPError``; and `CancellationError` if the calling task was cancelled or the pager was reset during
    ///   the call.
    public func next() async throws -> Page<Template.Response>? {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        defer { state.withLock { _ = $0.left.remove(number) } }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait($0, as: number) }
        } onCancel: {
            leave(number)
        }
    }

    /// Starts again at the checkpoint. If there is no checkpoint, or if the client was reset after the pager was
    /// created, the pager starts at the first page. Waiting calls throw `CancellationError`, and a page whose load is
    /// in progress is discarded.
    public func reset() {
        let start = makeIterator()
        state.withLock { $0.restart(at: start) }.end()
    }

    /// Returns an iterator at the checkpoint, or at the first page if the client was reset after the pager was created.
    private func makeIterator() -> Iterator {
        generation.hasEnded ? pages.makeIteratorFromFirstPage() : pages.makeAsyncIterator()
    }
}

extension Pager {
    private func wait(_ waiter: Waiter, as number: Int) {
        let start = makeIterator()
        let (hasLeft, past) = state.withLock { state -> (Bool, Past?) in
            if state.left.remove(number) != nil { return (true, nil) }
            let past = state.iterator.isStale ? state.restart(at: start) : nil
            state.waiters.append((number, waiter))
            loadIfNeeded(&state)
            return (false, past)
        }
        past?.end()
        if hasLeft { waiter.resume(throwing: CancellationError()) }
    }

    /// Starts the load for the first call, unless a load is running. The task does not need the lock before it
    /// finishes.
    private func loadIfNeeded(_ state: inout State) {
        guard state.load == nil, !state.waiters.isEmpty else { return }
        state.load = Task { [weak self, start = state.iterator, generation = state.generation] in
            var iterator = start
            let result: Result<Page<Template.Response>?, any Error>
            do { result = .success(try await iterator.next()) } catch { result = .failure(error) }
            self?.finish(result, iterator, generation)
        }
    }

    private func leave(_ number: Int) {
        let (waiter, load) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
            guard let index = state.waiters.firstIndex(where: { $0.number == number }) else {
                state.left.insert(number)
                return (nil, nil)
            }
            let waiter = state.waiters.remove(at: index).waiter
            guard state.waiters.isEmpty else { return (waiter, nil) }
            state.generation += 1
            return (waiter, state.load.take())
        }
        load?.cancel()
        waiter?.resume(throwing: CancellationError())
    }

    private func finish(_ result: Result<Page<Template.Response>?, any Error>, _ iterator: Iterator, _ generation: Int)
    {
        // The previous iterator and the finished task are deallocated after the lock is released.
        let (waiter, _, _) = state.withLock { state -> (Waiter?, Iterator?, Task<Void, Never>?) in
            guard state.generation == generation else { return (nil, nil, nil) }
            let past = (state.iterator, state.load.take())
            state.iterator = iterator
            if case .success(let page) = result { state.hasMore = page?.checkpoint != nil && !iterator.isAtMaximum }
            let waiter = state.waiters.isEmpty ? nil : state.waiters.removeFirst().waiter
            loadIfNeeded(&state)
            return (waiter, past.0, past.1)
        }
        waiter?.resume(with: result)
    }
}

import Synchronization

extension HTTPClient {
    /// Pages on demand, for an interface that loads more when its user scrolls.
    public func pager<Template: PaginatedTemplate>(
        of template: Template, from checkpoint: PageCheckpoint? = nil, walk: PageWalk = PageWalk()
    ) -> Pager<Template> {
        Pager(PageSource(client: self, template: template, checkpoint: checkpoint, walk: walk) { _ in nil })
    }
}

/// Loads one page after the other, on demand. Made by ``HTTPClient/pager(of:from:walk:)``.
///
/// ```swift
/// let pager = client.pager(of: ListFollowers(login: "ada").paginated())
/// while let page = try await pager.next() { show(page.value) }
/// ```
///
/// Each call of ``next()`` returns a page of its own. Calls that overlap wait in a queue and get successive pages, in the
/// order of the calls. An error leaves the pager where it is, so that the next call asks for that page again. A page is
/// never lost with a call that is cancelled: the next call in the queue gets it. The load ends when no call waits for it.
///
/// After ``HTTPClient/reset()`` the pager starts over at the first page, without its checkpoint, since a cursor belongs to
/// the user for whom it was obtained.
public final class Pager<Template: PaginatedTemplate>: Sendable {
    // A class, because all who hold it iterate together.

    private typealias Iterator = PageSource<Template>.Iterator
    private typealias Waiter = CheckedContinuation<Page<Template.Response>?, any Error>

    private struct State {
        var iterator: Iterator
        var hasMore = true
        /// The load for the first of the waiters.
        var load: Task<Void, Never>?
        var generation = 0
        /// The calls, in order.
        var waiters: [(number: Int, waiter: Waiter)] = []
        var left: Set<Int> = []
        var lastWaiter = 0

        /// Goes to another place, and takes out what belongs to the one before.
        mutating func restart(at iterator: Iterator) -> Past {
            let past = Past(iterator: self.iterator, load: load, waiters: waiters.map(\.waiter))
            (self.iterator, load, waiters, hasMore) = (iterator, nil, [], true)
            generation += 1
            return past
        }
    }

    /// What a restart takes out. It is ended and released after the lock: what it holds may cancel a waiting call when it is
    /// freed.
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
    private let resets: Int
    private let state: Mutex<State>

    init(_ pages: PageSource<Template>) {
        self.pages = pages
        resets = pages.resets
        state = Mutex(State(iterator: pages.makeAsyncIterator()))
    }

    deinit { state.withLock { $0.load.take() }?.cancel() }

    /// Whether there may be another page; true until the last one was returned.
    public var hasMore: Bool { state.withLock { $0.hasMore || $0.iterator.isStale } }

    /// How many calls wait for a page now.
    package var waiting: Int { state.withLock { $0.waiters.count } }

    /// Returns the next page, nil after the last.
    ///
    /// - Throws: ``HTTPError``; and `CancellationError` when the calling task was cancelled, or the pager was reset
    ///   meanwhile.
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

    /// Starts over where the pager began; calls that wait get `CancellationError`, and a page that comes late is dropped.
    public func reset() {
        let start = makeIterator()
        state.withLock { $0.restart(at: start) }.end()
    }

    /// An iterator at the checkpoint, or at the first page when the checkpoint is older than a reset of the client.
    private func makeIterator() -> Iterator {
        pages.resets == resets ? pages.makeAsyncIterator() : pages.makeIteratorFromFirstPage()
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

    /// Begins the load for the first call, unless one is under way. The task begins to run after the lock.
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
        // The iterator of before, and the finished task, are released after the lock.
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

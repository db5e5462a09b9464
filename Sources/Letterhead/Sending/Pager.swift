import Synchronization

extension HTTPClient {
    /// Pages on demand, for an interface that loads more when its user scrolls.
    public func pager<Template: PaginatedTemplate>(
        of template: Template, from checkpoint: PageCheckpoint? = nil, walk: PageWalk = PageWalk()
    ) -> Pager<Template> {
        Pager(PageSequence(client: self, template: template, checkpoint: checkpoint, walk: walk) { _ in nil })
    }
}

/// Gives one page after the other to whoever asks. Made by ``HTTPClient/pager(of:from:walk:)``.
///
/// ```swift
/// let pager = client.pager(of: ListFollowers(login: "ada").paginated())
/// while let page = try await pager.next() { show(page.value) }
/// ```
///
/// Calls that overlap share one load and get the same page. An error leaves it where it is, so that the next call asks for
/// that page again. Cancelling a call lets the others wait on; the load ends with its last waiter.
public final class Pager<Template: PaginatedTemplate>: Sendable {
    // A class, because all who hold it walk together.

    private typealias Waiter = CheckedContinuation<Page<Template.Response>?, any Error>

    private struct State {
        var iterator: PageSequence<Template>.Iterator
        var hasMore = true
        var load: Task<Void, Never>?
        var generation = 0
        var waiters: [Int: Waiter] = [:]
        var left: Set<Int> = []
        var lastWaiter = 0
    }

    private let pages: PageSequence<Template>
    private let state: Mutex<State>

    init(_ pages: PageSequence<Template>) {
        self.pages = pages
        state = Mutex(State(iterator: pages.makeAsyncIterator()))
    }

    deinit { state.withLock { $0.load?.cancel() } }

    /// Whether there may be another page; true until the last one was given.
    public var hasMore: Bool { state.withLock { $0.hasMore } }

    /// How many wait for a page now.
    package var waiting: Int { state.withLock { $0.waiters.count } }

    /// The next page, nil behind the last.
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

    /// Starts over at the first page; whoever waits gets `CancellationError`, and a late answer is dropped.
    public func reset() {
        let waiters = state.withLock { state in
            state.load?.cancel()
            state.load = nil
            state.generation += 1
            state.iterator = pages.makeAsyncIterator()
            state.hasMore = true
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(throwing: CancellationError()) }
    }

    private func wait(_ waiter: Waiter, as number: Int) {
        let hasLeft = state.withLock { state in
            if state.left.remove(number) != nil { return true }
            state.waiters[number] = waiter
            if state.load == nil { state.load = load(state.iterator, state.generation) }
            return false
        }
        if hasLeft { waiter.resume(throwing: CancellationError()) }
    }

    private func load(_ iterator: PageSequence<Template>.Iterator, _ generation: Int) -> Task<Void, Never> {
        Task { [weak self] in
            var iterator = iterator
            let result: Result<Page<Template.Response>?, any Error>
            do { result = .success(try await iterator.next()) } catch { result = .failure(error) }
            self?.finish(result, iterator, generation)
        }
    }

    private func leave(_ number: Int) {
        let waiter = state.withLock { state in
            guard let waiter = state.waiters.removeValue(forKey: number) else {
                state.left.insert(number)
                return Waiter?.none
            }
            if state.waiters.isEmpty {
                state.load?.cancel()
                state.load = nil
                state.generation += 1
            }
            return waiter
        }
        waiter?.resume(throwing: CancellationError())
    }

    private func finish(
        _ result: Result<Page<Template.Response>?, any Error>, _ iterator: PageSequence<Template>.Iterator,
        _ generation: Int
    ) {
        let waiters = state.withLock { state -> [Waiter] in
            guard state.generation == generation else { return [] }
            state.load = nil
            state.iterator = iterator
            if case .success(let page) = result { state.hasMore = page?.checkpoint != nil && !iterator.isAtMaximum }
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(with: result) }
    }
}

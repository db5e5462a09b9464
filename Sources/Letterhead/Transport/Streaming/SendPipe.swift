// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Synchronization

/// A bounded buffer for a request body, between the task that produces it and the thread that sends it. While the
/// buffer is full, the task waits. The pipe owns the task.
final class SendPipe: Sendable {
    enum Step {
        case bytes(Int)
        case end
        case wait
        case failed(any Error)
    }

    fileprivate struct State {
        var chunks: [Data] = []
        var offset = 0
        var count = 0
        var isEnded = false
        var failure: (any Error)?
        var isClosed = false
        /// Whether the thread found no bytes, and waits until more are available.
        var isStarved = false
        var givenCount = 0
        var maker: CheckedContinuation<Void, Never>?
        var task: Task<Void, Never>?
        /// The number of the current iteration over the body. Chunks from earlier iterations are discarded.
        var walk = 0
    }

    let length: Int?
    private let first: Mutex<BodyChunks?>
    private let isReplayable: Bool
    private let meter: ProgressMeter?
    private let makeChunks: @Sendable () throws -> BodyChunks
    private let state = Mutex(State())
    private static let capacity = 256 << 10

    /// Creates a pipe.
    ///
    /// - Parameters:
    ///   - first: the chunks for the first iteration.
    ///   - isReplayable: whether the body can be iterated again, with the chunks that `makeChunks` returns.
    ///   - meter: reports how many bytes were produced. Default: nil.
    ///   - makeChunks: returns the chunks for a further iteration.
    init(
        _ first: BodyChunks, isReplayable: Bool, meter: ProgressMeter? = nil,
        makeChunks: @escaping @Sendable () throws -> BodyChunks
    ) {
        length = first.length
        self.meter = meter
        self.first = Mutex(first)
        self.isReplayable = isReplayable
        self.makeChunks = makeChunks
    }

    /// Starts to produce the body.
    ///
    /// - Parameter onMore: is called when the thread has found no bytes and more are available, and when the body has
    ///   ended.
    func start(onMore: @escaping @Sendable () -> Void) {
        let walk = state.withLock { $0.walk }
        let task = Task { [self] in await make(walk, onMore) }
        let isTooLate = state.withLock { state in
            guard !state.isClosed, state.walk == walk else { return true }
            state.task = task
            return false
        }
        if isTooLate { task.cancel() }
    }

    /// Restarts the body from its first byte. Returns false if that isn't possible.
    func rewind(onMore: @escaping @Sendable () -> Void) -> Bool {
        guard state.withLock({ $0.givenCount > 0 }) else { return true }
        guard isReplayable else { return false }
        abandon(isClosing: false)
        start(onMore: onMore)
        return true
    }

    /// Reads the next bytes, at most as many as there is room for in the buffer. Called by the thread that sends them.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Step {
        let (step, maker, spent) = state.withLock { state in
            let (step, spent) = unsafe state.take(into: buffer)
            guard state.count < Self.capacity else {
                return (step, nil as CheckedContinuation<Void, Never>?, spent)
            }
            defer { state.maker = nil }
            return (step, state.maker, spent)
        }
        maker?.resume()
        // A chunk is released outside the lock, because it may have a custom deallocator that cancels the request.
        withExtendedLifetime(spent) {}
        return step
    }

    var failure: (any Error)? { state.withLock { $0.failure } }

    /// Returns whether the whole body was read and had at most `count` bytes.
    func isSpent(by count: Int) -> Bool {
        state.withLock { $0.isEnded && $0.chunks.isEmpty && $0.givenCount <= count }
    }

    func close() { abandon(isClosing: true) }

    private func abandon(isClosing: Bool) {
        // As in `read`, the remaining body is released outside the lock.
        let old = state.withLock { state in
            let next = State(isClosed: state.isClosed || isClosing, walk: state.walk + 1)
            return exchange(&state, with: next)
        }
        old.task?.cancel()
        old.maker?.resume()
    }
}

// MARK: Producing

extension SendPipe {
    private func make(_ walk: Int, _ onMore: @Sendable () -> Void) async {
        do {
            var iterator = try (first.withLock { $0.take() } ?? makeChunks()).makeAsyncIterator()
            var made = 0
            while let chunk = try await iterator.next() {
                made += chunk.count
                // The last piece is held back until the body has ended, so that a longer body is detected.
                if made == length { _ = try await iterator.next() }
                meter?.note(made)
                guard await offer(chunk, walk, onMore) else { return }
            }
            finish(nil, walk, onMore)
        } catch {
            finish(error, walk, onMore)
        }
    }

    /// Adds a piece and waits until there is room for the next one. Returns false if the iteration is no longer
    /// current.
    private func offer(_ chunk: Data, _ walk: Int, _ onMore: @Sendable () -> Void) async -> Bool {
        let isStarved = state.withLock { state -> Bool in
            guard state.walk == walk else { return false }
            state.chunks.append(chunk)
            state.count += chunk.count
            defer { state.isStarved = false }
            return state.isStarved
        }
        if isStarved { onMore() }
        await withCheckedContinuation { continuation in
            let hasRoom = state.withLock { state in
                if state.walk != walk || state.count < Self.capacity { return true }
                state.maker = continuation
                return false
            }
            if hasRoom { continuation.resume() }
        }
        return state.withLock { $0.walk == walk }
    }

    private func finish(_ failure: (any Error)?, _ walk: Int, _ onMore: @Sendable () -> Void) {
        let isWanted = state.withLock { state in
            guard state.walk == walk else { return false }
            (state.isEnded, state.failure, state.isStarved) = (true, failure, false)
            return true
        }
        if isWanted { onMore() }
    }
}

extension SendPipe.State {
    /// Copies bytes. Also returns the chunk if its last bytes were copied.
    fileprivate mutating func take(
        into buffer: UnsafeMutableRawBufferPointer
    ) -> (step: SendPipe.Step, spent: Data?) {
        if let failure { return (.failed(failure), nil) }
        guard let chunk = chunks.first else {
            if isEnded { return (.end, nil) }
            isStarved = true
            return (.wait, nil)
        }
        let size = min(buffer.count, chunk.count - offset)
        let start = chunk.startIndex + offset
        unsafe chunk.copyBytes(to: buffer, from: start..<(start + size))
        (offset, count, givenCount) = (offset + size, count - size, givenCount + size)
        guard offset == chunk.count else { return (.bytes(size), nil) }
        offset = 0
        return (.bytes(size), chunks.removeFirst())
    }
}

import Foundation
import Synchronization

/// The body of a request between the task that makes it and the thread that sends it: bounded, so that no more is
/// made than the server takes. A class, since both sides share it. It owns the task.
final class SendPipe: Sendable {
    /// What the thread gets when it asks for bytes.
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
        /// The thread found nothing, and waits until it hears that there is more.
        var isStarved = false
        var givenCount = 0
        var maker: CheckedContinuation<Void, Never>?
        var task: Task<Void, Never>?
        /// Which walk over the body it is; what an earlier one still brings is not wanted any more.
        var walk = 0
    }

    /// How many bytes it is; nil when that is not known.
    let length: Int?
    private let first: Mutex<BodyChunks?>
    private let isReplayable: Bool
    private let meter: ProgressMeter?
    private let makeChunks: @Sendable () throws -> BodyChunks
    private let state = Mutex(State())
    private static let capacity = 256 << 10

    /// - Parameters:
    ///   - first: the chunks of the first walk.
    ///   - isReplayable: whether there may be another walk.
    ///   - meter: hears how much was made.
    ///   - makeChunks: the chunks of another walk.
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

    /// Begins to make the body; `onMore` tells the thread that there is something for it again.
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

    /// Starts the body again from its first byte; false when that cannot be.
    func rewind(onMore: @escaping @Sendable () -> Void) -> Bool {
        guard state.withLock({ $0.givenCount > 0 }) else { return true }
        guard isReplayable else { return false }
        abandon(isClosing: false)
        start(onMore: onMore)
        return true
    }

    /// Gives the next bytes. For the thread.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Step {
        let (step, maker, spent) = state.withLock { state in
            let (step, spent) = state.take(into: buffer)
            guard state.count < Self.capacity else {
                return (step, nil as CheckedContinuation<Void, Never>?, spent)
            }
            defer { state.maker = nil }
            return (step, state.maker, spent)
        }
        maker?.resume()
        // A chunk is freed after the lock: it may have a deallocator of the caller's, which may cancel the request.
        withExtendedLifetime(spent) {}
        return step
    }

    /// Why the body cannot be made, if it cannot.
    var failure: (any Error)? { state.withLock { $0.failure } }

    /// Whether all of it was given, and so many bytes are all that there were.
    func isSpent(by count: Int) -> Bool {
        state.withLock { $0.isEnded && $0.chunks.isEmpty && $0.givenCount <= count }
    }

    /// Nothing more is wanted: ends the task that makes the body.
    func close() { abandon(isClosing: true) }

    private func abandon(isClosing: Bool) {
        // As above, what is left of the body is freed after the lock.
        let old = state.withLock { state in
            let next = State(isClosed: state.isClosed || isClosing, walk: state.walk + 1)
            return exchange(&state, with: next)
        }
        old.task?.cancel()
        old.maker?.resume()
    }
}

// MARK: Making

extension SendPipe {
    private func make(_ walk: Int, _ onMore: @Sendable () -> Void) async {
        do {
            var iterator = try chunks().makeAsyncIterator()
            var made = 0
            while let chunk = try await iterator.next() {
                made += chunk.count
                // The last piece is held back until the body has ended, so that one that goes on is found out.
                if made == length { _ = try await iterator.next() }
                meter?.note(made)
                guard await offer(chunk, walk, onMore) else { return }
            }
            finish(nil, walk, onMore)
        } catch {
            finish(error, walk, onMore)
        }
    }

    private func chunks() throws -> BodyChunks {
        let first = first.withLock { first in
            defer { first = nil }
            return first
        }
        return try first ?? makeChunks()
    }

    /// Adds a piece and waits until there is room for another; false when none is wanted.
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
    /// Copies bytes; also returns the chunk that they were the end of.
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
        chunk.copyBytes(to: buffer, from: start..<(start + size))
        (offset, count, givenCount) = (offset + size, count - size, givenCount + size)
        guard offset == chunk.count else { return (.bytes(size), nil) }
        offset = 0
        return (.bytes(size), chunks.removeFirst())
    }
}

#if os(Linux)
    import Foundation
    import Synchronization

    /// The body of a response between the thread that receives it and the task that reads it: bounded, so that a slow
    /// reader slows the server down. A class, since both sides share it.
    final class CurlReceivePipe: Sendable {
        fileprivate enum End {
            case complete
            case failed(TransportFailure)
        }

        fileprivate struct State {
            var chunks: [Data] = []
            var filling = Data()
            var count = 0
            var end: End?
            /// More than one, when a body's iterator was copied and several tasks go on with it.
            var readers: [CheckedContinuation<Void, Never>] = []
            /// The thread was told to wait, and waits until it hears that there is room.
            var isBlocked = false
        }

        private static let chunkSize = 64 << 10
        private static let capacity = 256 << 10
        private let state = Mutex(State())

        /// Takes bytes; false when it is full, and then none are taken. For the thread.
        func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
            guard let address = bytes.baseAddress else { return true }
            return state.withLock { state in
                guard state.count < Self.capacity else {
                    state.isBlocked = true
                    return false
                }
                if state.filling.count + bytes.count > Self.chunkSize, !state.filling.isEmpty {
                    state.chunks.append(state.filling)
                    state.filling = Data()
                }
                if state.filling.isEmpty { state.filling = Data(capacity: max(Self.chunkSize, bytes.count)) }
                state.filling.append(address.assumingMemoryBound(to: UInt8.self), count: bytes.count)
                state.count += bytes.count
                return true
            }
        }

        /// Wakes who reads if there is something for it. For the thread, once it has read what there was to read.
        func flush() {
            wakeReaders { state in state.count > 0 }
        }

        /// No more bytes will come; only the first end counts. A cancelled reader gets none of those that are there.
        func end(_ failure: TransportFailure? = nil) {
            wakeReaders { state in
                guard state.end == nil else { return true }
                if failure?.code == .cancelled { state = State(readers: state.readers) }
                state.end = failure.map(End.failed) ?? .complete
                return true
            }
        }

        /// The next bytes, and whether the thread waits for room; no bytes at the end.
        typealias Step = (bytes: Data, isRoomMade: Bool)

        /// Waits for the next step. Bytes that came before a failure are given before it.
        func read() async throws(TransportFailure) -> Step {
            while true {
                if let step = try take() { return step }
                await withCheckedContinuation { continuation in
                    let isReady = state.withLock { state in
                        if state.count > 0 || state.end != nil { return true }
                        state.readers.append(continuation)
                        return false
                    }
                    if isReady { continuation.resume() }
                }
            }
        }

        /// What is there; nil when there is nothing yet.
        func take() throws(TransportFailure) -> Step? {
            let (step, failure) = state.withLock { state in state.take(below: Self.capacity / 2) }
            if let failure { throw failure }
            return step
        }

        private func wakeReaders(_ isReady: (inout State) -> Bool) {
            let readers = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                guard isReady(&state), !state.readers.isEmpty else { return [] }
                defer { state.readers = [] }
                return state.readers
            }
            for reader in readers { reader.resume() }
        }
    }

    extension CurlReceivePipe.State {
        fileprivate mutating func take(
            below lowMark: Int
        ) -> (CurlReceivePipe.Step?, TransportFailure?) {
            guard count > 0 else {
                switch end {
                case nil: return (nil, nil)
                case .complete: return ((Data(), false), nil)
                case .failed(let failure): return (nil, failure)
                }
            }
            let bytes = chunks.isEmpty ? filling : chunks.removeFirst()
            if bytes.count == count { filling = Data() }
            count -= bytes.count
            let isRoomMade = isBlocked && count <= lowMark
            if isRoomMade { isBlocked = false }
            return ((bytes, isRoomMade), nil)
        }
    }
#endif

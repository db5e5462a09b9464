// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Synchronization

/// A bounded buffer for a response body, between the thread that receives it and the task that reads it. Because of the
/// bound, a slow reader also slows the server down.
///
/// Bytes are copied into blocks that are reused when the reader has released them. Small amounts are copied again: to
/// merge blocks, and to return a small piece.
final class ReceivePipe: Sendable {
    enum Arrival {
        case taken
        /// No bytes were taken, because the pipe is full. A later ``Step`` reports that there is room.
        case refused
        /// There isn't enough memory, so the transfer must end.
        case noMemory
        /// The transfer must end, because its reader was cancelled or has dropped the body.
        case cancelled
    }

    /// The next bytes, which are empty at the end, and whether the receiving thread can continue. It can if it waited
    /// for room and there is enough room now.
    typealias Step = (bytes: Data, isRoomMade: Bool)

    /// Memory for one piece. It is mapped separately, because the allocator would retain much memory that one thread
    /// allocates and a different thread frees.
    ///
    /// `@unchecked`: it has one owner at a time, the pipe or the data that the reader received. The owner frees it, and
    /// the first ``count`` bytes are initialized.
    @safe fileprivate struct Block: @unchecked Sendable {
        let memory: UnsafeMutableRawPointer
        var count = 0
    }

    fileprivate struct State {
        var blocks: [Block] = []
        var spares: [Block] = []
        var count = 0
        var end: Result<Void, TransportFailure>?
        /// The waiting readers. There is more than one if the iterator of a body was copied and several tasks use it.
        var readers: [CheckedContinuation<Void, Never>] = []
        /// Whether the receiving thread waits for room.
        var isBlocked = false
    }

    fileprivate static let blockSize = 256 << 10
    private static let capacity = 4 * blockSize
    /// A reader is resumed when this many bytes are available, or fewer if no more can be received at present.
    private static let wakeSize = 2 * blockSize
    private static let spareLimit = capacity / blockSize
    private let state = Mutex(State())
    /// The block that is being filled. `nonisolated(unsafe)`: only the receiving thread uses it, so that it can copy
    /// without holding the lock. Otherwise the reader would spin on the lock.
    @safe nonisolated(unsafe) private var filling: Block?

    deinit {
        filling?.free()
        state.withLock { $0.freeAll() }
    }

    /// Writes bytes. Called by the receiving thread.
    func write(_ bytes: UnsafeRawBufferPointer) -> Arrival {
        // Either all bytes are taken or none, because libcurl delivers refused bytes again as a whole.
        let needsBlock = filling.map { !$0.hasRoom(for: bytes.count) } ?? true
        if needsBlock {
            let (isCancelled, isFull) = state.withLock { ($0.isCancelled, $0.isFull(at: Self.capacity)) }
            if isCancelled { return .cancelled }
            if isFull { return .refused }
        }
        var rest = unsafe bytes
        while let source = rest.baseAddress, unsafe !rest.isEmpty {
            if filling == nil { filling = state.withLock { $0.spares.popLast() } ?? Block() }
            guard let size = unsafe filling?.append(source, rest.count) else { return .noMemory }
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest[size...])
            if filling?.isFull == true { handOver(atLeast: Self.wakeSize) }
        }
        return .taken
    }

    /// Makes all received bytes available to the reader. Called by the receiving thread when no more can be received at
    /// present.
    func flush() { handOver(atLeast: 1) }

    /// Makes the block available, and resumes the readers if there are at least `minimum` bytes for them.
    private func handOver(atLeast minimum: Int) {
        let block = filling
        filling = nil
        let (readers, merged) = state.withLock { state in
            let merged = block.flatMap { state.add($0) }
            return (state.count >= minimum ? state.takeReaders() : [], merged)
        }
        if let merged { recycle(merged) }
        for reader in readers { reader.resume() }
    }

    /// Ends the body. Only the first call has an effect. A cancelled reader receives none of the remaining bytes.
    func end(_ failure: TransportFailure? = nil) {
        let readers = state.withLock { state in
            if state.end == nil {
                if failure?.code == .cancelled { state.freeAll() } else { state.freeSpares() }
                state.end = failure.map { .failure($0) } ?? .success(())
            }
            return state.takeReaders()
        }
        for reader in readers { reader.resume() }
    }

    /// Waits for the next step. Bytes that were received before a failure are returned before it is thrown.
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

    /// Returns the next step without waiting, or nil if none is available yet.
    func take() throws(TransportFailure) -> Step? {
        let (block, isRoomMade, end) = state.withLock { state in
            let block = state.takeBlock()
            let isRoomMade = block != nil && state.isBlocked && state.count <= Self.capacity / 2
            if isRoomMade { state.isBlocked = false }
            return (block, isRoomMade, state.end)
        }
        if let block { return (data(of: block), isRoomMade) }
        guard let end else { return nil }
        try end.get()
        return (Data(), false)
    }

    /// Returns the bytes of a block. When they are released, the block can be reused. A small piece is copied, so that
    /// a reader that keeps it doesn't keep the whole block.
    private func data(of block: Block) -> Data {
        guard block.count >= Self.blockSize / 2 else {
            defer { recycle(block) }
            return unsafe Data(bytes: block.memory, count: block.count)
        }
        return unsafe Data(
            bytesNoCopy: block.memory, count: block.count,
            deallocator: .custom { [self] memory, _ in unsafe recycle(Block(memory: memory)) })
    }

    private func recycle(_ block: Block) {
        let isKept = state.withLock { state in
            guard state.end == nil, state.spares.count < Self.spareLimit else { return false }
            unsafe state.spares.append(Block(memory: block.memory))
            return true
        }
        if !isKept { block.free() }
    }
}

extension ReceivePipe.State {
    /// Whether the reader was cancelled or has dropped the body.
    fileprivate var isCancelled: Bool {
        if case .failure(let failure) = end { failure.code == .cancelled } else { false }
    }

    /// Returns whether the pipe is full. If so, it notes that the receiving thread waits for room.
    fileprivate mutating func isFull(at capacity: Int) -> Bool {
        isBlocked = count >= capacity
        return isBlocked
    }

    /// Adds a block. If its bytes fit into the previous one, they are copied there and the block is returned for
    /// reuse. Without this copy, the pipe would hold many blocks with few bytes each if the reader is slow.
    fileprivate mutating func add(_ block: ReceivePipe.Block) -> ReceivePipe.Block? {
        if isCancelled { return block }
        count += block.count
        guard let last = blocks.indices.last, blocks[last].hasRoom(for: block.count) else {
            blocks.append(block)
            return nil
        }
        _ = unsafe blocks[last].append(block.memory, block.count)
        return block
    }

    fileprivate mutating func takeBlock() -> ReceivePipe.Block? {
        guard !blocks.isEmpty else { return nil }
        let block = blocks.removeFirst()
        count -= block.count
        return block
    }

    fileprivate mutating func takeReaders() -> [CheckedContinuation<Void, Never>] {
        defer { readers = [] }
        return readers
    }

    fileprivate mutating func freeSpares() {
        for block in spares { block.free() }
        spares = []
    }

    fileprivate mutating func freeAll() {
        freeSpares()
        for block in blocks { block.free() }
        (blocks, count) = ([], 0)
    }
}

extension ReceivePipe.Block {
    fileprivate init?() {
        let memory = unsafe mmap(nil, ReceivePipe.blockSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
        guard let memory = unsafe memory, unsafe memory != MAP_FAILED else { return nil }
        unsafe self.init(memory: memory)
    }

    fileprivate func free() { unsafe munmap(memory, ReceivePipe.blockSize) }

    fileprivate var isFull: Bool { count == ReceivePipe.blockSize }

    fileprivate func hasRoom(for size: Int) -> Bool { count + size <= ReceivePipe.blockSize }

    /// Copies as many bytes as there is room for, and returns their number.
    fileprivate mutating func append(_ source: UnsafeRawPointer, _ size: Int) -> Int {
        let size = min(size, ReceivePipe.blockSize - count)
        unsafe (memory + count).copyMemory(from: source, byteCount: size)
        count += size
        return size
    }
}

import Foundation

/// Bytes whose number another party determines. A failed allocation is reported, whereas `Data` and `Array` would end
/// the process.
struct GrowingBytes: ~Copyable {
    private var memory: UnsafeMutableRawPointer?
    private var capacity = 0
    private(set) var count = 0

    /// - Parameter capacity: the number of bytes to allocate immediately. Default: 0.
    init(capacity: Int = 0) {
        if capacity > 0 { _ = reserve(capacity) }
    }

    deinit { free(memory) }

    /// Appends bytes. If there is not enough memory, it appends nothing and returns false.
    mutating func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return true }
        let (sum, isOver) = count.addingReportingOverflow(bytes.count)
        guard !isOver, sum <= capacity || reserve(max(sum, 2 * capacity)), let memory else { return false }
        (memory + count).copyMemory(from: source, byteCount: bytes.count)
        count = sum
        return true
    }

    mutating func append(_ data: Data) -> Bool { data.withUnsafeBytes { append($0) } }

    /// Returns the bytes without copying them. The buffer is empty afterwards.
    mutating func take() -> Data {
        guard count > 0, let memory else { return Data() }
        defer { (self.memory, capacity, count) = (nil, 0, 0) }
        let isMostlyUnused = capacity - count > max(count, 4096)
        let fitting = isMostlyUnused ? realloc(memory, count) ?? memory : memory
        return Data(bytesNoCopy: fitting, count: count, deallocator: .free)
    }

    private mutating func reserve(_ size: Int) -> Bool {
        guard let grown = realloc(memory, size) else { return false }
        (memory, capacity) = (grown, size)
        return true
    }
}

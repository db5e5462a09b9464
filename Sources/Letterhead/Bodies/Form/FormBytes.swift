import Foundation

/// The bytes of a form while it is written: each is written once, without asking whether there is room for it.
struct FormBytes: ~Copyable {
    private let set: EscapeSet
    private var memory: UnsafeMutableRawPointer
    private var capacity: Int
    private var count = 0

    /// - Parameter capacity: how many bytes there is room for at first.
    init(_ set: EscapeSet, capacity: Int) {
        (self.set, self.capacity) = (set, capacity)
        memory = .allocate(byteCount: capacity, alignment: 8)
    }

    deinit { memory.deallocate() }

    /// What was written.
    var data: Data { Data(bytes: memory, count: count) }

    var isEmpty: Bool { count == 0 }

    /// Appends a text, escaped.
    mutating func append(_ text: String) {
        reserve(3 * text.utf8.count + 1)
        count += PercentEncoding.write(text, set, to: memory + count)
    }

    /// Appends a byte as it is.
    mutating func append(byte: UInt8) {
        reserve(1)
        memory.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    private mutating func reserve(_ more: Int) {
        guard count + more > capacity else { return }
        capacity = max(2 * capacity, count + more)
        let grown = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        grown.copyMemory(from: memory, byteCount: count)
        memory.deallocate()
        memory = grown
    }
}

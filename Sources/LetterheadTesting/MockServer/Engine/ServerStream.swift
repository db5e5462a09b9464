/// The bytes of one connection, plain or encrypted; nothing in it blocks.
protocol ServerStream: AnyObject {
    var socket: SystemSocket { get }
    /// Whether bytes that were taken from the caller still wait for the system to take them.
    var hasUnsentBytes: Bool { get }
    /// Bytes that crossed the socket, in and out.
    var traffic: (received: Int, sent: Int) { get }
    /// How the bytes are encrypted, once that is settled.
    var security: MockServer.Security? { get }

    /// Reads what has come: the number of bytes, 0 at the end of the input, nil when there is nothing yet.
    func receive(into buffer: UnsafeMutableRawBufferPointer) throws -> Int?
    /// Takes as many bytes as it can now, possibly none.
    func transmit(_ bytes: UnsafeRawBufferPointer) throws -> Int
    /// Passes on what waits, as far as the system takes it.
    func flush() throws
    /// Says that nothing more will be sent, where the protocol has a word for it, and ends the output.
    func endOutput()
}

/// A connection without encryption.
final class PlainStream: ServerStream {
    // A class, because it is a connection's identity; only the loop's thread touches it.
    let socket: SystemSocket
    let hasUnsentBytes = false
    let security: MockServer.Security? = nil
    private(set) var traffic = (received: 0, sent: 0)

    init(_ socket: SystemSocket) { self.socket = socket }

    func receive(into buffer: UnsafeMutableRawBufferPointer) throws -> Int? {
        let count = try socket.receive(into: buffer)
        traffic.received += count ?? 0
        return count
    }

    func transmit(_ bytes: UnsafeRawBufferPointer) throws -> Int {
        let count = try socket.transmit(bytes)
        traffic.sent += count
        return count
    }

    func flush() {}
    func endOutput() { socket.endOutput() }
}

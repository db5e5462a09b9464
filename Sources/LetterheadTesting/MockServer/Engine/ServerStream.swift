// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// One connection's bytes, plain or encrypted. No operation blocks.
protocol ServerStream: AnyObject {
    var socket: SystemSocket { get }
    /// Whether bytes from the caller still wait until the system accepts them.
    var hasUnsentBytes: Bool { get }
    /// How many bytes the socket has received and sent.
    var traffic: (received: Int, sent: Int) { get }
    /// The connection's encryption, or nil until the handshake is complete.
    var security: MockServer.Security? { get }

    /// Reads available bytes. Returns how many, 0 at the end, or nil if there aren't any.
    func receive(into buffer: inout [UInt8], atMost limit: Int) throws -> Int?
    /// Accepts as many bytes as possible, which may be zero.
    func transmit(_ bytes: Data) throws -> Int
    /// Sends buffered bytes, as far as the system accepts them.
    func flush() throws
    /// Ends the output, after a close_notify if the connection is encrypted.
    func endOutput()
}

/// A connection without encryption.
final class PlainStream: ServerStream {
    // This type is a class because it represents one connection. Only the loop's thread uses it.
    let socket: SystemSocket
    let hasUnsentBytes = false
    let security: MockServer.Security? = nil
    private(set) var traffic = (received: 0, sent: 0)

    init(_ socket: SystemSocket) { self.socket = socket }

    func receive(into buffer: inout [UInt8], atMost limit: Int) throws -> Int? {
        let count = try socket.receive(into: &buffer, atMost: limit)
        traffic.received += count ?? 0
        return count
    }

    func transmit(_ bytes: Data) throws -> Int {
        let count = try socket.transmit(bytes)
        traffic.sent += count
        return count
    }

    func flush() {}
    func endOutput() { socket.endOutput() }
}

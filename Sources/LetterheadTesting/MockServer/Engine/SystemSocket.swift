// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// A system socket that never blocks and never raises SIGPIPE.
///
/// Its methods have other names than the system calls, so that `send`, `close` and `shutdown` in their bodies are the
/// system functions. The unsafe calls are correct: the system uses memory only until its functions return, and each
/// size belongs to the argument beside it.
struct SystemSocket: Sendable {
    let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    /// Creates a socket. It can listen at a port where a server has just stopped.
    init() throws(SocketFailure) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.flag), 0)
        guard descriptor >= 0 else { throw SocketFailure("socket") }
        Self.makeNonblocking(descriptor)
        Self.set(SO_REUSEADDR, SOL_SOCKET, Int32(1), of: descriptor)
    }

    /// Accepts a waiting connection, or returns nil if there is none.
    func accepted() throws(SocketFailure) -> SystemSocket? {
        let descriptor = accept(self.descriptor, nil, nil)
        guard descriptor >= 0 else {
            if Self.isTransient(errno) || errno == ECONNABORTED { return nil }
            throw SocketFailure("accept")
        }
        // On some platforms, an accepted socket doesn't inherit options from the listening one.
        Self.makeNonblocking(descriptor)
        Self.set(TCP_NODELAY, Int32(IPPROTO_TCP.flag), Int32(1), of: descriptor)
        #if canImport(Darwin)
            Self.set(SO_NOSIGPIPE, SOL_SOCKET, Int32(1), of: descriptor)
        #endif
        return SystemSocket(descriptor: descriptor)
    }

    /// Reads available bytes. Returns how many, 0 at the end of the input, or nil if no bytes are available.
    func receive(into buffer: inout [UInt8], atMost limit: Int = .max) throws(SocketFailure) -> Int? {
        let count = unsafe recv(descriptor, &buffer, min(limit, buffer.count), 0)
        if count >= 0 { return count }
        if Self.isTransient(errno) { return nil }
        throw SocketFailure("recv")
    }

    /// Writes as many bytes as the system accepts, possibly none. Returns how many.
    func transmit(_ bytes: some ContiguousBytes) throws(SocketFailure) -> Int {
        #if canImport(Darwin)
            let flags: Int32 = 0
        #else
            let flags = Int32(MSG_NOSIGNAL.flag)
        #endif
        let count = unsafe bytes.withUnsafeBytes { unsafe send(descriptor, $0.baseAddress, $0.count, flags) }
        if count >= 0 { return count }
        if Self.isTransient(errno) { return 0 }
        throw SocketFailure("send")
    }

    /// Ends the output. The input stays open.
    func endOutput() { _ = shutdown(descriptor, Int32(SHUT_WR.flag)) }

    func release() { _ = close(descriptor) }

    /// Closes the descriptor so that the client receives a reset (RST) instead of an end (FIN).
    func releaseWithReset() {
        Self.set(SO_LINGER, SOL_SOCKET, linger(l_onoff: 1, l_linger: 0), of: descriptor)
        release()
    }

    private static func set<Value: BitwiseCopyable>(_ option: Int32, _ level: Int32, _ value: Value, of socket: Int32) {
        var value = value
        _ = unsafe setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Value>.size))
    }

    static func makeNonblocking(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    private static func isTransient(_ code: Int32) -> Bool { code == EAGAIN || code == EWOULDBLOCK || code == EINTR }
}

// System constants are numbers on one platform and enumerations on the other. `flag` reads both.
extension BinaryInteger {
    var flag: Int { Int(self) }
}

extension RawRepresentable where RawValue: BinaryInteger {
    var flag: Int { Int(rawValue) }
}

/// A listening socket on the loopback interface.
struct ListeningSocket: Sendable {
    let socket: SystemSocket
    let port: Int

    /// Listens on 127.0.0.1.
    ///
    /// - Parameter port: the port, or 0 for a free port that the system chooses.
    init(port: Int) throws(SocketFailure) {
        socket = try SystemSocket()
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        // An IPv4 address can be passed as a `sockaddr`. The system stores no more than the size that it receives.
        let failure = unsafe withUnsafeMutablePointer(to: &address) { [descriptor = socket.descriptor] address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> SocketFailure? in
                var size = socklen_t(MemoryLayout<sockaddr_in>.size)
                if unsafe bind(descriptor, address, size) != 0 { return SocketFailure("bind") }
                if listen(descriptor, 1024) != 0 { return SocketFailure("listen") }
                return unsafe getsockname(descriptor, address, &size) == 0 ? nil : SocketFailure("getsockname")
            }
        }
        self.port = Int(in_port_t(bigEndian: address.sin_port))
        guard let failure else { return }
        socket.release()
        throw failure
    }
}

/// A failed system call, and the reason from the system.
struct SocketFailure: Error, CustomStringConvertible {
    let call: String
    let code: Int32

    /// Creates a failure from `errno`. Call it immediately after the system call.
    init(_ call: String) {
        self.call = call
        code = errno
    }

    /// Whether the process or the system has no free descriptors.
    var isExhaustion: Bool { code == EMFILE || code == ENFILE || code == ENOBUFS || code == ENOMEM }

    /// Whether the peer reset the connection.
    var isReset: Bool { code == ECONNRESET || code == EPIPE }

    // The text for a known error number is a constant.
    var description: String { unsafe "\(call): \(String(cString: strerror(code)))" }
}

/// The bytes of a connection, plain or encrypted. No method blocks.
protocol ServerStream: AnyObject {
    var socket: SystemSocket { get }
    /// Whether bytes from the caller are waiting for the system to accept them.
    var hasUnsentBytes: Bool { get }
    /// How many bytes the socket has received and sent so far.
    var traffic: (received: Int, sent: Int) { get }
    /// How the connection is encrypted, or nil until the handshake is complete.
    var security: MockServer.Security? { get }

    /// Reads available bytes. Returns how many, 0 at the end of the input, or nil if no bytes are available.
    func receive(into buffer: inout [UInt8], atMost limit: Int) throws -> Int?
    /// Accepts as many bytes as possible, possibly none. Returns how many.
    func transmit(_ bytes: Data) throws -> Int
    /// Sends buffered bytes, as far as the system accepts them.
    func flush() throws
    /// Ends the output, after a close_notify if the connection is encrypted.
    func endOutput()
}

/// A connection without encryption.
final class PlainStream: ServerStream {
    // This type is a class because it represents one connection. Only the loop thread uses it.
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

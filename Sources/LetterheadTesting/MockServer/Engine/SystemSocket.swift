// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// A system socket that never blocks and never raises SIGPIPE.
///
/// Its methods aren't named like system calls, so `send`, `close` and `shutdown` in their bodies are the system's. The
/// system uses memory only until its functions return, and sizes are the arguments' own.
struct SystemSocket: Sendable {
    let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    /// Creates a socket that can listen at a port where a server has just stopped.
    init() throws(SocketFailure) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.flag), 0)
        guard descriptor >= 0 else { throw SocketFailure("socket") }
        Self.makeNonblocking(descriptor)
        Self.set(SO_REUSEADDR, SOL_SOCKET, Int32(1), of: descriptor)
    }

    /// Accepts a connection that waits at a listening socket, or returns nil without one.
    func accepted() throws(SocketFailure) -> SystemSocket? {
        let descriptor = accept(self.descriptor, nil, nil)
        guard descriptor >= 0 else {
            if Self.isTransient(errno) || errno == ECONNABORTED { return nil }
            throw SocketFailure("accept")
        }
        // Some platforms don't pass a listening socket's options on.
        Self.makeNonblocking(descriptor)
        Self.set(TCP_NODELAY, Int32(IPPROTO_TCP.flag), Int32(1), of: descriptor)
        #if canImport(Darwin)
            Self.set(SO_NOSIGPIPE, SOL_SOCKET, Int32(1), of: descriptor)
        #endif
        return SystemSocket(descriptor: descriptor)
    }

    /// Reads available bytes. Returns how many, 0 at the end, or nil if there aren't any.
    func receive(into buffer: inout [UInt8], atMost limit: Int = .max) throws(SocketFailure) -> Int? {
        let count = unsafe recv(descriptor, &buffer, min(limit, buffer.count), 0)
        if count >= 0 { return count }
        if Self.isTransient(errno) { return nil }
        throw SocketFailure("recv")
    }

    /// Writes as many bytes as the system accepts, which may be zero.
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

    /// Closes the descriptor.
    func release() { _ = close(descriptor) }

    /// Closes the descriptor so that the peer receives a reset (RST) and no end (FIN).
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

// The system's constants are numbers on one platform and enumerations on another. `flag` reads both.
extension BinaryInteger {
    var flag: Int { Int(self) }
}

extension RawRepresentable where RawValue: BinaryInteger {
    var flag: Int { Int(rawValue) }
}

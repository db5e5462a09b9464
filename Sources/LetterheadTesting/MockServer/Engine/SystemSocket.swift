import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A socket of the system that never blocks and never raises SIGPIPE.
///
/// Its methods have names of their own so that inside them `send`, `close` and `shutdown` are the system's.
struct SystemSocket: Sendable {
    let descriptor: Int32

    /// A connection that waits at a listening socket; nil when there is none.
    func accepted() throws(SocketFailure) -> SystemSocket? {
        let descriptor = accept(self.descriptor, nil, nil)
        guard descriptor >= 0 else {
            if Self.isTransient(errno) || errno == ECONNABORTED { return nil }
            throw SocketFailure("accept")
        }
        let socket = SystemSocket(descriptor: descriptor)
        socket.prepare()
        return socket
    }

    /// Reads what has come: the number of bytes, 0 at the end of the input, nil when there is nothing yet.
    func receive(into buffer: UnsafeMutableRawBufferPointer) throws(SocketFailure) -> Int? {
        let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
        if count >= 0 { return count }
        if Self.isTransient(errno) { return nil }
        throw SocketFailure("recv")
    }

    /// Writes as much as the system takes now, possibly nothing.
    func transmit(_ bytes: UnsafeRawBufferPointer) throws(SocketFailure) -> Int {
        #if canImport(Darwin)
            let count = send(descriptor, bytes.baseAddress, bytes.count, 0)
        #else
            let count = send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL.flag))
        #endif
        if count >= 0 { return count }
        if Self.isTransient(errno) { return 0 }
        throw SocketFailure("send")
    }

    /// Ends the output; the input stays open.
    func endOutput() { _ = shutdown(descriptor, Int32(SHUT_WR.flag)) }

    /// Gives the descriptor back.
    func release() { _ = close(descriptor) }

    /// Gives the descriptor back so that the peer sees a reset (RST), not an end (FIN).
    func releaseWithReset() {
        var abortive = linger(l_onoff: 1, l_linger: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &abortive, socklen_t(MemoryLayout<linger>.size))
        release()
    }

    /// Sets what the system does not let a socket inherit everywhere.
    func prepare() {
        var on: Int32 = 1
        Self.makeNonblocking(descriptor)
        _ = setsockopt(descriptor, Int32(IPPROTO_TCP.flag), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        #if canImport(Darwin)
            _ = setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    static func makeNonblocking(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    private static func isTransient(_ code: Int32) -> Bool { code == EAGAIN || code == EWOULDBLOCK || code == EINTR }
}

// The system's constants are numbers on one platform and enumerations on the next; `flag` reads both.
extension BinaryInteger {
    var flag: Int { Int(self) }
}

extension RawRepresentable where RawValue: BinaryInteger {
    var flag: Int { Int(rawValue) }
}

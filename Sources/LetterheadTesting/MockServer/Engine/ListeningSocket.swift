// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// A listening socket on the loopback interface.
struct ListeningSocket: Sendable {
    let socket: SystemSocket
    /// The port of the socket.
    let port: Int

    /// Listens on 127.0.0.1.
    ///
    /// - Parameter port: the port; 0 for a free port that the system chooses.
    init(port: Int) throws(SocketFailure) {
        let descriptor = Glue.streamSocket()
        guard descriptor >= 0 else { throw SocketFailure("socket") }
        SystemSocket.makeNonblocking(descriptor)
        socket = SystemSocket(descriptor: descriptor)
        do throws(SocketFailure) {
            var on: Int32 = 1
            _ = setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
            try Self.bind(descriptor, port: port)
            guard listen(descriptor, 1024) == 0 else { throw SocketFailure("listen") }
            self.port = try Self.port(of: descriptor)
        } catch {
            socket.release()
            throw error
        }
    }

    private static func bind(_ descriptor: Int32, port: Int) throws(SocketFailure) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glue.bindSocket(descriptor, $0, size) }
        }
        guard result == 0 else { throw SocketFailure("bind") }
    }

    private static func port(of descriptor: Int32) throws(SocketFailure) -> Int {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        guard result == 0 else { throw SocketFailure("getsockname") }
        return Int(in_port_t(bigEndian: address.sin_port))
    }
}

/// System calls whose names or argument types conflict with members of the types that use them.
private enum Glue {
    static func streamSocket() -> Int32 { socket(AF_INET, Int32(SOCK_STREAM.flag), 0) }
    static func bindSocket(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) -> Int32 {
        bind(descriptor, address, size)
    }
}

// SPDX-License-Identifier: MIT
import LetterheadFoundation

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
        // An IPv4 address is a `sockaddr`, and the system stores at most its size.
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

// SPDX-License-Identifier: MIT
import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A connection over TCP to an IPv4 address. Its calls block their thread.
///
/// It is a class because it owns a file descriptor.
final class Socket: Sendable {
    private let descriptor: Int32
    private let isCancelled = Mutex(false)

    /// Connects on a separate thread. It returns nil if the server cannot be reached.
    static func connected(toHost host: String, port: Int) async -> Socket? {
        let descriptor = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: open(host: host, port: port)) }
        }
        return descriptor.map(Socket.init(descriptor:))
    }

    private init(descriptor: Int32) { self.descriptor = descriptor }

    /// Returns the descriptor of a connection, or nil if the server cannot be reached.
    private static func open(host: String, port: Int) -> Int32? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
        guard inet_pton(AF_INET, host, &address.sin_addr) == 1 else { return nil }
        #if canImport(Glibc)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
            var isOn: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
        #endif
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) == 0 }
        }
        if isConnected { return descriptor }
        close(descriptor)
        return nil
    }

    deinit { close(descriptor) }

    /// Ends a call that blocks a thread, and all later ones.
    func cancel() {
        isCancelled.withLock { $0 = true }
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
    }

    var wasCancelled: Bool { isCancelled.withLock { $0 } }

    /// Writes all bytes. It returns false if the connection is lost.
    func write(_ data: Data) -> Bool {
        #if canImport(Glibc)
            let flags: Int32 = 0x4000  // MSG_NOSIGNAL. Its type depends on the C library
        #else
            let flags: Int32 = 0
        #endif
        return data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = send(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count, flags)
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    /// Waits for bytes. It returns false if none have arrived within the limit.
    func waitForBytes(within limit: Duration?) -> Bool {
        let milliseconds = limit.map { Int32(clamping: Int64(($0 / .milliseconds(1)).rounded(.up))) } ?? -1
        var entry = pollfd(descriptor: descriptor)
        return poll(&entry, 1, milliseconds) != 0
    }

    /// Reads some bytes. Returns nil if the connection is lost, and no bytes at its end.
    func read() -> Data? {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count < 0 ? nil : Data(buffer.prefix(count))
    }
}

extension pollfd {
    fileprivate init(descriptor: Int32) { self.init(fd: descriptor, events: Int16(POLLIN), revents: 0) }
}

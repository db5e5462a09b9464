// SPDX-License-Identifier: MIT
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A client that knows nothing of HTTP: bytes out, bytes in, and how the connection ended.
///
/// It waits on separate threads, since a test that blocks a thread of the concurrency pool may block the server's
/// closure with it. A read that gets nothing for 20 seconds ends as `.timedOut`.
final class RawClient: Sendable {
    enum Ending: Sendable { case end, reset, timedOut }

    let descriptor: Int32

    init(port: Int) throws {
        #if canImport(Glibc)
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let descriptor = descriptor
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        #if canImport(Darwin)
            var isQuiet: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isQuiet, socklen_t(MemoryLayout<Int32>.size))
        #endif
        var limit = timeval(tv_sec: 100, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { _ = close(descriptor) }

    /// Sends all of it. Returns false when the server has closed or reset the connection.
    @discardableResult
    func send(_ text: String) async -> Bool { await send(Data(text.utf8)) }

    @discardableResult
    func send(_ data: Data) async -> Bool {
        await onThread { [descriptor] in
            data.withUnsafeBytes { bytes in
                var sent = 0
                while sent < bytes.count {
                    #if canImport(Darwin)
                        let count = Darwin.send(
                            descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, 0)
                    #else
                        let count = write(descriptor, bytes, from: sent)
                    #endif
                    guard count > 0 else { return false }
                    sent += count
                }
                return true
            }
        }
    }

    /// Reads until the text ends with a mark, or the connection ends.
    func read(until mark: String) async -> String { await read { $0.hasSuffix(mark) }.text }

    /// Reads until so many bytes are there, or the connection ends.
    func read(count: Int) async -> String { await read { $0.utf8.count >= count }.text }

    /// Reads everything, and returns how the connection ended.
    func readAll() async -> (text: String, ending: Ending) { await read { _ in false } }

    /// Ends the client's side.
    func endOutput() { _ = shutdown(descriptor, Int32(1)) }

    private func read(until isEnough: @escaping @Sendable (String) -> Bool) async -> (text: String, ending: Ending) {
        await onThread { [descriptor] in
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let text = String(decoding: bytes, as: UTF8.self)
                if !bytes.isEmpty, isEnough(text) { return (text, .end) }
                let count = recv(descriptor, &buffer, buffer.count, 0)
                if count == 0 { return (text, .end) }
                if count < 0 { return (text, errno == ECONNRESET ? .reset : .timedOut) }
                bytes += buffer[..<count]
            }
        }
    }

    private func onThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: work()) }
        }
    }
}

#if !canImport(Darwin)
    private func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, from offset: Int) -> Int {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
        return send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
    }
#endif

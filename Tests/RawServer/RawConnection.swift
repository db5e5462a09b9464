#if os(Linux)
    package import Foundation
    import Glibc

    /// A connection of a ``RawServer``. A class, since it owns its socket and what was read ahead.
    package final class RawConnection: @unchecked Sendable {
        // Used by the thread of its script alone.
        private let descriptor: CInt
        private var buffer: [UInt8] = []

        init(_ descriptor: CInt) { self.descriptor = descriptor }

        deinit { close() }

        private var isOpen = true

        /// A request's head, as text, and its body; nil when the peer is gone.
        package func readRequest() -> (head: String, body: Data)? {
            guard let head = readHead() else { return nil }
            let lines = head.lowercased().split(separator: "\r\n")
            if lines.contains("transfer-encoding: chunked") { return readChunks().map { (head, $0) } }
            let length = lines.first { $0.hasPrefix("content-length:") }
                .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
            return read(length ?? 0).map { (head, $0) }
        }

        package func readHead() -> String? {
            while true {
                if let end = buffer.firstRange(of: Array("\r\n\r\n".utf8)) {
                    let head = String(decoding: buffer[..<end.upperBound], as: UTF8.self)
                    buffer.removeSubrange(..<end.upperBound)
                    return head
                }
                guard more() else { return nil }
            }
        }

        package func read(_ count: Int) -> Data? {
            while buffer.count < count { guard more() else { return nil } }
            defer { buffer.removeSubrange(..<count) }
            return Data(buffer[..<count])
        }

        /// True when the peer closes; what it still sends is thrown away.
        package func waitForEnd() -> Bool {
            while more() { buffer = [] }
            return true
        }

        @discardableResult
        package func write(_ text: String) -> Bool { write(Array(text.utf8)) }

        @discardableResult
        package func write(_ bytes: [UInt8]) -> Bool {
            var offset = 0
            while offset < bytes.count {
                let count = bytes[offset...].withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, 0) }
                guard count > 0 else { return false }
                offset += count
            }
            return true
        }

        package func close() {
            guard isOpen else { return }
            isOpen = false
            Glibc.shutdown(descriptor, CInt(SHUT_RDWR))
            Glibc.close(descriptor)
        }

        /// Ends the connection with a reset instead of an orderly close.
        package func reset() {
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
            isOpen = false
            Glibc.close(descriptor)
        }

        private func readChunks() -> Data? {
            var data = Data()
            while let line = readLine() {
                guard let count = Int(line, radix: 16), let chunk = read(count), read(2) != nil else { return nil }
                if count == 0 { return data }
                data += chunk
            }
            return nil
        }

        private func readLine() -> String? {
            while true {
                if let end = buffer.firstRange(of: [13, 10]) {
                    defer { buffer.removeSubrange(..<end.upperBound) }
                    return String(decoding: buffer[..<end.lowerBound], as: UTF8.self)
                }
                guard more() else { return nil }
            }
        }

        private func more() -> Bool {
            var bytes = [UInt8](repeating: 0, count: 65536)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            guard count > 0 else { return false }
            buffer += bytes[..<count]
            return true
        }
    }
#endif

// SPDX-License-Identifier: MIT
#if os(Linux)
    package import Foundation
    import Glibc

    /// A connection of a ``RawServer``. A class, since it owns its socket and what was read ahead.
    package final class RawConnection: @unchecked Sendable {
        // Used by the thread of its script alone.
        private let descriptor: CInt
        private var buffer: [UInt8] = []

        private var tls: RawTLS.Session?

        init(_ descriptor: CInt) { self.descriptor = descriptor }

        /// Agrees on TLS. Returns false when the client does not.
        package func secure(_ tls: RawTLS) -> Bool {
            self.tls = tls.accept(descriptor)
            return self.tls != nil
        }

        deinit { close() }

        private var isOpen = true

        /// A request's head, as text, and its body, or nil when the peer is gone.
        package func readRequest() -> (head: String, body: Data)? {
            guard let head = readHead() else { return nil }
            return readBody(of: head).map { (head, $0) }
        }

        /// The body of the request with a head, or nil when the peer ends before.
        package func readBody(of head: String) -> Data? {
            let lines = head.lowercased().split(separator: "\r\n")
            if lines.contains("transfer-encoding: chunked") { return readChunks() }
            let length = lines.first { $0.hasPrefix("content-length:") }
                .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
            return read(length ?? 0)
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

        /// Reads the body of a request and throws it away. Returns false when the peer ends before.
        package func skipBody(of head: String) -> Bool { readBody(of: head) != nil }

        /// Limits how many bytes the kernel takes for a peer that does not read. Without it the kernel decides, up to 4
        /// MiB.
        package func limitOutput(to count: CInt) {
            var count = count
            setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &count, socklen_t(MemoryLayout<CInt>.size))
        }

        /// Ends the server's side of the connection, with close_notify if it uses TLS and `isTruncated` is false.
        package func endOutput(isTruncated: Bool = false) {
            if !isTruncated { tls?.end() }
            Glibc.shutdown(descriptor, CInt(SHUT_WR))
        }

        /// True when the peer closes. What it still sends is thrown away.
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
                let count = bytes[offset...].withUnsafeBytes { transmit($0) }
                guard count > 0 else { return false }
                offset += count
            }
            return true
        }

        @discardableResult
        package func writeZeros(_ count: Int) -> Bool {
            let bytes = [UInt8](repeating: 0, count: 1 << 20)
            var left = count
            while left > 0 {
                let sent = send(descriptor, bytes, min(left, bytes.count), 0)
                guard sent > 0 else { return false }
                left -= sent
            }
            return true
        }

        /// Takes so many bytes and throws them away. Returns false when the peer ends before.
        package func skip(_ count: Int) -> Bool {
            var left = count - min(count, buffer.count)
            buffer.removeFirst(count - left)
            var bytes = [UInt8](repeating: 0, count: 1 << 18)
            while left > 0 {
                let received = recv(descriptor, &bytes, min(left, bytes.count), 0)
                guard received > 0 else { return false }
                left -= received
            }
            return true
        }

        /// Carries bytes to a port of this machine and back, as a proxy does, until one of both ends.
        ///
        /// - Parameter records: ends before the other side's TLS record after so many whole ones, and a part of it if
        ///   `isInside`. Default: nil, never.
        /// - Parameter limit: ends after so many bytes of the other side. The client can read all of them. Default:
        ///   nil, never.
        /// - Parameter input: ends after so many bytes of the client. Default: nil, never.
        /// - Returns: the number of bytes that were sent to the client.
        @discardableResult
        package func relay(
            toPort port: Int, records: Int? = nil, isInside: Bool = false, bytes limit: Int? = nil, input: Int? = nil
        ) -> Int {
            let other = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            defer { Glibc.close(other) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(port).bigEndian
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            let isConnected = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    connect(other, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            guard isConnected else { return 0 }
            var sent = 0
            var received = 0
            var bytes = [UInt8](repeating: 0, count: 65536)
            var cut = records.map { RecordCut(whole: $0, isInside: isInside) }
            while true {
                var polled = [
                    pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: other, events: Int16(POLLIN), revents: 0),
                ]
                guard poll(&polled, 2, -1) > 0 else { return sent }
                for (source, sink) in [(polled[0], other), (polled[1], descriptor)] where source.revents != 0 {
                    let room = source.fd == other ? limit.map { $0 - sent } : input.map { $0 - received }
                    // Over TLS, what waits is one record at most, and the buffer has room for it.
                    let count = bytes.withUnsafeMutableBytes { bytes in
                        let space = UnsafeMutableRawBufferPointer(rebasing: bytes.prefix(room ?? bytes.count))
                        return source.fd == other ? recv(other, space.baseAddress, space.count, 0) : receive(space)
                    }
                    let kept = source.fd == other ? cut?.taken(of: bytes[..<max(0, count)]) ?? count : count
                    guard count > 0 else { return sent }
                    let passed = bytes.withUnsafeBytes { bytes in
                        let rest = UnsafeRawBufferPointer(rebasing: bytes.prefix(kept))
                        if rest.isEmpty { return 0 }
                        return sink == other ? send(other, rest.baseAddress, rest.count, 0) : transmit(rest)
                    }
                    guard passed == kept, kept == count else { return sent }
                    if source.fd == other { sent += count } else { received += count }
                    if received == input { return sent }
                    if sent == limit {
                        // Closing with unread input would be a reset, which discards what the client has not read yet.
                        Glibc.shutdown(descriptor, CInt(SHUT_WR))
                        _ = waitForEnd()
                        return sent
                    }
                }
            }
        }

        /// Counts the TLS records of a side (RFC 8446, 5.1: five bytes before each, the last two its length).
        private struct RecordCut {
            let whole: Int
            let isInside: Bool
            private var number = 0
            private var header: [UInt8] = []
            private var left = 0

            init(whole: Int, isInside: Bool) { (self.whole, self.isInside) = (whole, isInside) }

            /// How many of the bytes come before the cut.
            mutating func taken(of bytes: ArraySlice<UInt8>) -> Int {
                for (index, byte) in bytes.enumerated() {
                    if number == whole, !isInside || header.count == 5 { return index }
                    if header.count < 5 {
                        header.append(byte)
                        if header.count == 5 { left = Int(header[3]) << 8 | Int(byte) }
                    } else {
                        left -= 1
                    }
                    if header.count == 5, left == 0 { (number, header) = (number + 1, []) }
                }
                return bytes.count
            }
        }

        package func close() {
            guard isOpen else { return }
            isOpen = false
            tls?.end()
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
            let count = bytes.withUnsafeMutableBytes { receive($0) }
            guard count > 0 else { return false }
            buffer += bytes[..<count]
            return true
        }

        private func receive(_ bytes: UnsafeMutableRawBufferPointer) -> Int {
            tls?.read(bytes) ?? recv(descriptor, bytes.baseAddress, bytes.count, 0)
        }

        private func transmit(_ bytes: UnsafeRawBufferPointer) -> Int {
            tls?.write(bytes) ?? send(descriptor, bytes.baseAddress, bytes.count, 0)
        }
    }
#endif

// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation

    /// A listening socket with a full queue, so that the system leaves further attempts to connect unanswered. A class,
    /// since it owns its sockets.
    final class BlackHole: Sendable {
        let url: URL
        private let port: Int
        private let sockets: [CInt]

        init?() {
            let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            var sockets = [listener]
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let port = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    bind(listener, pointer, length)
                    listen(listener, 0)
                    getsockname(listener, pointer, &length)
                    for _ in 0..<16 {
                        let client = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0)
                        _ = connect(client, pointer, length)
                        sockets.append(client)
                    }
                }
                return Int(UInt16(bigEndian: pointer.pointee.sin_port))
            }
            self.sockets = sockets
            self.port = port
            guard let url = URL(string: "http://127.0.0.1:\(port)/") else { return nil }
            self.url = url
        }

        /// The number of attempts to connect that are not answered, including the attempts of this object.
        var attempts: Int {
            // A file handle reads to the end. Foundation's other functions read one page of a file that reports no
            // size.
            let bytes = try? FileHandle(forReadingAtPath: "/proc/net/tcp")?.readToEnd()
            let table = String(decoding: bytes ?? Data(), as: UTF8.self)
            let peer = "0100007F:" + String(format: "%04X", port) + " 02"  // 02 is SYN_SENT.
            return table.split(separator: "\n").count { $0.contains(peer) }
        }

        deinit { for socket in sockets { close(socket) } }
    }
#endif

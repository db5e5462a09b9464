// SPDX-License-Identifier: MIT
#if os(Linux)
    package import Foundation
    import Glibc
    import Synchronization

    /// A server that sends exactly the bytes of a test. Each connection runs the script on a separate thread,
    /// so that it may block. A class, since it owns its listening socket.
    package final class RawServer: Sendable {
        package let port: Int
        private let listener: CInt
        private let accepted = Atomic(0)
        private let tls: RawTLS?

        /// - Parameters:
        ///   - backlog: how many connections may wait to be accepted.
        ///   - tls: speaks TLS on each connection. Default: nil, none.
        ///   - script: what to do with a connection, and its number, from 0.
        package init(
            backlog: CInt = 512, tls: RawTLS? = nil, _ script: @escaping @Sendable (RawConnection, Int) -> Void
        ) {
            self.tls = tls
            listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            port = withUnsafeMutablePointer(to: &address) { [listener] pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    bind(listener, pointer, length)
                    listen(listener, backlog)
                    getsockname(listener, pointer, &length)
                }
                return Int(UInt16(bigEndian: pointer.pointee.sin_port))
            }
            signal(SIGPIPE, SIG_IGN)
            Thread.detachNewThread { self.accept(script) }
        }

        /// One on a Unix-domain socket, whose file its owner removes.
        package init(unixSocket path: String, _ script: @escaping @Sendable (RawConnection, Int) -> Void) {
            tls = nil
            listener = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
            port = 0
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
            withUnsafePointer(to: &address) { [listener] pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    _ = bind(listener, pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            listen(listener, 512)
            signal(SIGPIPE, SIG_IGN)
            Thread.detachNewThread { self.accept(script) }
        }

        /// Refuses connections from now on. A server that is not stopped lives as long as the test's process.
        package func stop() { shutdown(listener, CInt(SHUT_RDWR)) }

        package var connectionCount: Int { accepted.load(ordering: .sequentiallyConsistent) }

        private func accept(_ script: @escaping @Sendable (RawConnection, Int) -> Void) {
            // Only this thread closes the listener, so that its number cannot become another socket's under it.
            while let descriptor = next() {
                let number = accepted.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
                let connection = RawConnection(descriptor)
                Thread.detachNewThread { [tls] in
                    if let tls, !connection.secure(tls) { return connection.close() }
                    script(connection, number)
                }
            }
            close(listener)
        }

        /// The next connection; nil when the server was stopped.
        private func next() -> CInt? {
            while true {
                let descriptor = Glibc.accept(listener, nil, nil)
                if descriptor >= 0 { return descriptor }
                // A process that has too many files open may have fewer soon.
                guard [EMFILE, ENFILE, EINTR, ECONNABORTED].contains(errno) else { return nil }
                usleep(10_000)
            }
        }

        package func url(_ path: String = "/") -> URL {
            URL(string: "\(tls == nil ? "http" : "https")://127.0.0.1:\(port)\(path)") ?? URL(filePath: "/no-url")
        }

        /// A server that sends the same bytes after the head of each request, and keeps the connection open or not.
        package static func answering(_ response: String, closing: Bool = false) -> RawServer {
            RawServer { connection, _ in
                while let request = connection.readRequest() {
                    _ = request
                    guard connection.write(response) else { return }
                    if closing { return connection.close() }
                }
                connection.close()
            }
        }
    }
#endif

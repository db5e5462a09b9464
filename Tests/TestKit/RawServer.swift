// SPDX-License-Identifier: MIT
#if os(Linux)
    package import Foundation
    import Glibc
    import Letterhead
    import Synchronization

    /// A server that sends exactly the bytes of a test. Each connection runs the script on a separate thread,
    /// so that it may block. A class, since it owns its listening socket.
    package final class RawServer: Sendable {
        package let port: Int
        private let acceptor: Acceptor
        private let accepted = Atomic(0)
        private let tls: RawTLS?

        /// Returns a port that was free just now, for another program.
        package static func freePort() -> Int {
            let server = RawServer { connection, _ in connection.close() }
            server.stop()
            return server.port
        }

        /// - Parameters:
        ///   - host: the address to listen at.
        ///   - backlog: how many connections may wait to be accepted.
        ///   - tls: speaks TLS on each connection. Default: nil, none.
        ///   - script: what to do with a connection, and its number, from 0.
        package init(
            host: String = "127.0.0.1", backlog: CInt = 512, tls: RawTLS? = nil,
            _ script: @escaping @Sendable (RawConnection, Int) -> Void
        ) {
            self.tls = tls
            let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = inet_addr(host)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            port = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    bind(listener, pointer, length)
                    listen(listener, backlog)
                    getsockname(listener, pointer, &length)
                }
                return Int(UInt16(bigEndian: pointer.pointee.sin_port))
            }
            acceptor = Acceptor(listener)
            begin(script)
        }

        /// One on a Unix-domain socket. Its owner removes the file.
        package init(unixSocket path: String, _ script: @escaping @Sendable (RawConnection, Int) -> Void) {
            tls = nil
            let listener = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
            port = 0
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
            withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    _ = bind(listener, pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            listen(listener, 512)
            acceptor = Acceptor(listener)
            begin(script)
        }

        /// Refuses connections from now on. A server that is not stopped lives as long as the test's process.
        package func stop() { acceptor.stop() }

        package var connectionCount: Int { accepted.load(ordering: .sequentiallyConsistent) }

        private func begin(_ script: @escaping @Sendable (RawConnection, Int) -> Void) {
            signal(SIGPIPE, SIG_IGN)
            acceptor.begin { descriptor in
                let number = self.accepted.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
                let connection = RawConnection(descriptor)
                Thread.detachNewThread { [tls = self.tls] in
                    if let tls, !connection.secure(tls) { return connection.close() }
                    script(connection, number)
                }
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

    /// Returns when a request without a response has timed out. A test of a limit that a transport measures itself, in
    /// real time, waits for another time limit of a transport in this way.
    package func waitForTimeout(of limit: Duration) async {
        let server = RawServer { connection, _ in _ = connection.waitForEnd() }
        defer { server.stop() }
        var request = HTTPRequest(url: server.url())
        request.timeout = limit
        _ = try? await HTTPClient.defaultTransport.load(request)
    }

    /// Accepts the connections of all servers on one queue: many tests do not stop theirs, and the thread sanitizer becomes
    /// several times slower in a process with more than about 250 threads.
    private final class Acceptor: Sendable {
        private static let queue = DispatchQueue(label: "RawServer")

        private let listener: CInt
        // A source of libdispatch may be used on any thread.
        private nonisolated(unsafe) let source: any DispatchSourceRead
        private let closed = DispatchGroup()

        init(_ listener: CInt) {
            self.listener = listener
            source = DispatchSource.makeReadSource(fileDescriptor: listener, queue: Self.queue)
        }

        func begin(_ handler: @escaping @Sendable (CInt) -> Void) {
            _ = fcntl(listener, F_SETFL, O_NONBLOCK)
            closed.enter()
            // The source keeps its handlers, and so this object, until it is cancelled.
            source.setEventHandler { self.accept(handler) }
            source.setCancelHandler {
                close(self.listener)
                self.closed.leave()
            }
            source.activate()
        }

        /// Returns once the socket is closed. To shut down a socket that a source of libdispatch observes may end the process:
        /// its thread goes on with a source that the queue of its handler has released.
        func stop() {
            source.cancel()
            closed.wait()
        }

        /// Accepts one connection.
        private func accept(_ handler: @Sendable (CInt) -> Void) {
            let descriptor = Glibc.accept(listener, nil, nil)
            if descriptor >= 0 { return handler(descriptor) }
            switch errno {
            case EAGAIN, EINTR, ECONNABORTED: break
            // A process that has too many files open may have fewer soon.
            case EMFILE, ENFILE: usleep(10_000)
            default: source.cancel()
            }
        }
    }
#endif

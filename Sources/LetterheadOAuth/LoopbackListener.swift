// SPDX-License-Identifier: MIT
import Dispatch
import Letterhead
import LetterheadFoundation
import Synchronization

/// Receives the redirect of one sign-in on the loopback interface (RFC 8252, 7.3).
///
/// Every program and every web page can send requests to the port. A request counts only if it has the path from the
/// redirect URI and the state from this sign-in. The grant checks the rest of the URL.
///
/// Browsers open connections that they don't use, so the listener serves several at the same time. If there are too
/// many, it closes the oldest.
final class LoopbackListener: Sendable {
    private typealias Failure = HTTPAuthentication.Failure

    private static let mostConnections = 16
    private static let longestHead = 16 << 10

    let redirectURI: URL
    /// One socket. If the host is `localhost`, one for each address family, because a browser may choose either.
    private let listening: [Int32]
    /// The two ends of a pipe. Writing a byte to its start ends the wait for connections.
    private let waking: (end: Int32, start: Int32)
    private let isListening = Atomic(true)

    /// - Parameter redirectURI: the URI as registered, or nil for the default. Without a port, the system chooses one.
    init(_ redirectURI: URL?) throws(HTTPAuthentication.Failure) {
        var request = redirectURI.map { HTTPRequest(url: $0) } ?? HTTPRequest(host: "127.0.0.1", path: "/callback")
        if redirectURI == nil { request.scheme = "http" }
        guard request.scheme == "http", ["127.0.0.1", "localhost"].contains(request.host ?? "") else {
            throw Failure(.misconfigured, "the redirect URI does not begin with http://127.0.0.1 or http://localhost")
        }
        guard let sockets = LoopbackSocket.listening(on: request.port ?? 0, isBoth: request.host == "localhost") else {
            throw Failure(.misconfigured, "the port of the redirect URI cannot be opened: \(LoopbackSocket.reason)")
        }
        request.port = sockets.port
        // The system stores the two descriptors here.
        var pipes: [Int32] = [-1, -1]
        guard let url = try? request.url(), unsafe pipe(&pipes) == 0 else {
            for descriptor in sockets.descriptors { _ = close(descriptor) }
            throw Failure(.misconfigured, "the system cannot create a pipe")
        }
        pipes.forEach(LoopbackSocket.prepare)
        (self.redirectURI, listening, waking) = (url, sockets.descriptors, (pipes[0], pipes[1]))
    }

    deinit {
        stopListening()
        _ = close(waking.end)
        _ = close(waking.start)
    }

    private func stopListening() {
        if isListening.exchange(false, ordering: .sequentiallyConsistent) {
            for descriptor in listening { _ = close(descriptor) }
        }
    }

    /// Has a page shown, and returns the URL that the browser was redirected to.
    func callback(
        of page: URL, within limit: Duration, on clock: any Clock<Duration>,
        open: @escaping @Sendable (URL) async throws -> Void
    ) async throws -> URL {
        guard let state = HTTPRequest(url: page).query["state"] else {
            throw Failure(.misconfigured, "the URL of the sign-in page contains no state parameter")
        }
        return try await withThrowingTaskGroup(of: Step.self) { group in
            group.addTask { .redirected(try await self.redirect(with: state)) }
            group.addTask {
                // A longer time could overflow the clock, so the limit is at most a day.
                try await clock.sleep(for: min(limit, .seconds(86_400)))
                return .late
            }
            group.addTask {
                try await open(page)
                return .opened
            }
            defer { group.cancelAll() }
            while let step = try await group.next() {
                switch step {
                case .redirected(let url): return url
                case .late: throw Failure(.refused, "the person did not sign in within \(limit.shown)")
                case .opened: continue
                }
            }
            throw CancellationError()
        }
    }

    private enum Step {
        case redirected(URL)
        case late, opened
    }

    /// Waits for the redirect on a separate thread, because the wait blocks it. Closes the port afterwards.
    private func redirect(with state: String) async throws -> URL {
        defer { stopListening() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue(label: "letterhead.sign-in").async {
                    continuation.resume(with: Result { try self.serve { self.callback($0, with: state) } })
                }
            }
        } onCancel: {
            // The system reads one byte of the literal.
            _ = unsafe write(waking.start, "x", 1)
        }
    }

    /// Returns the full URL of a request with this target, or nil if the request isn't the redirect.
    private func callback(_ target: String, with state: String) -> URL? {
        guard target.utf8.first == UInt8(ascii: "/"), let origin = redirectURI.origin,
            let url = URL(string: origin.description + target, encodingInvalidCharacters: false)
        else { return nil }
        let (request, expected) = (HTTPRequest(url: url), HTTPRequest(url: redirectURI))
        // A browser sends an empty path as "/".
        let isSame = request.path.string.isSame(as: expected.path.string.isEmpty ? "/" : expected.path.string)
        let states = request.query.values(for: "state")
        guard isSame, states.count == 1, states[0]?.isSame(as: state) == true else { return nil }
        // The result begins with the same bytes as the redirect URI.
        let start = redirectURI.absoluteString.utf8.prefix { $0 != UInt8(ascii: "?") }
        let query = target.utf8.drop { $0 != UInt8(ascii: "?") }
        return URL(
            string: String(decoding: Array(start) + Array(query), as: UTF8.self), encodingInvalidCharacters: false)
    }
}

extension LoopbackListener {
    private struct Connection {
        let descriptor: Int32
        var head: [UInt8] = []
    }

    /// Responds to requests until one of them is the redirect.
    private func serve(_ callback: (String) -> URL?) throws -> URL {
        var connections: [Connection] = []
        defer { for connection in connections { _ = close(connection.descriptor) } }
        // While the process has no free descriptor, `accept` fails and `poll` would report the connection again at
        // once. The listening sockets are then left out for 100 milliseconds.
        var isPaused = false
        while true {
            let sockets = isPaused ? [] : listening
            var waits = ([waking.end] + connections.map(\.descriptor) + sockets).map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            // The system changes only the elements that it receives, whose number is passed.
            guard unsafe poll(&waits, nfds_t(waits.count), isPaused ? 100 : -1) >= 0 || errno == EINTR else {
                throw Failure(.misconfigured, "the wait for the redirect failed: \(LoopbackSocket.reason)")
            }
            isPaused = false
            let ready = waits.suffix(sockets.count).filter { $0.revents != 0 }.map(\.fd)
            guard waits[0].revents == 0 else { throw CancellationError() }
            // From last to first, so that removing a connection doesn't change the indices of those that follow in the
            // loop.
            for index in connections.indices.reversed() where waits[index + 1].revents != 0 {
                guard LoopbackSocket.receive(connections[index].descriptor, into: &connections[index].head) else {
                    _ = close(connections.remove(at: index).descriptor)
                    continue
                }
                let head = connections[index].head
                guard head.contains(Array("\r\n\r\n".utf8)) else {
                    if head.count > Self.longestHead { _ = close(connections.remove(at: index).descriptor) }
                    continue
                }
                let url = Self.target(of: head).flatMap(callback)
                LoopbackSocket.send(url == nil ? Self.notFound : Self.done, to: connections[index].descriptor)
                _ = close(connections.remove(at: index).descriptor)
                if let url { return url }
            }
            for socket in ready {
                guard let descriptor = LoopbackSocket.accepted(from: socket) else {
                    isPaused = isPaused || ![EAGAIN, EINTR, ECONNABORTED].contains(errno)
                    continue
                }
                if connections.count >= Self.mostConnections { _ = close(connections.removeFirst().descriptor) }
                connections.append(Connection(descriptor: descriptor))
            }
        }
    }

    /// Returns the request target of a GET, or nil for any other request.
    private static func target(of head: [UInt8]) -> String? {
        let words = head.prefix { $0 != UInt8(ascii: "\r") }
            .split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, words[0].elementsEqual("GET".utf8) else { return nil }
        return String(decoding: words[1], as: UTF8.self)
    }

    private static let notFound = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    /// The page that the person sees after the sign-in. Its URL contains the code, so it is neither stored nor sent to
    /// a different page as a referrer.
    private static let done: String = {
        let page = """
            <!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Sign-in</title>\
            <p>You can close this window and return to the app.</p></html>
            """
        return "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: \(page.utf8.count)\r\n"
            + "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n\(page)"
    }()
}

/// System calls with types that differ between platforms. The system uses the arguments only until its function
/// returns, and each size fits its argument.
private enum LoopbackSocket {
    /// Describes why the last call failed. Texts for known error numbers are constants.
    static var reason: String { unsafe strerror(errno).map { unsafe String(cString: $0) } ?? "error \(errno)" }

    /// Opens a port on 127.0.0.1, and also on ::1 if both are wanted and the system has IPv6. Returns nil if a call
    /// fails. If the system chose a port that is free in one address family only, a different port is tried.
    static func listening(on port: Int, isBoth: Bool) -> (descriptors: [Int32], port: Int)? {
        for _ in 1...(port == 0 ? 10 : 1) {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
            address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
            guard let first = open(AF_INET, &address) else { return nil }
            let chosen = Int(in_port_t(bigEndian: address.sin_port))
            guard isBoth else { return ([first], chosen) }
            var second = sockaddr_in6()
            second.sin6_family = sa_family_t(AF_INET6)
            second.sin6_port = address.sin_port
            second.sin6_addr = in6addr_loopback
            if let other = open(AF_INET6, &second) { return ([first, other], chosen) }
            if [EAFNOSUPPORT, EADDRNOTAVAIL].contains(errno) { return ([first], chosen) }
            let code = errno
            _ = close(first)
            errno = code
            guard code == EADDRINUSE else { return nil }
        }
        return nil
    }

    /// Opens a socket at an address, and stores the port that the system has chosen in the address.
    private static func open<Address>(_ family: Int32, _ address: inout Address) -> Int32? {
        #if canImport(Glibc)
            let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(family, Int32(SOCK_STREAM), 0)
        #endif
        guard descriptor >= 0 else { return nil }
        prepare(descriptor)
        var on: Int32 = 1
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var size = socklen_t(MemoryLayout<Address>.size)
        let isOpen = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(descriptor, pointer, size) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, pointer, &size) == 0
            }
        }
        if isOpen { return descriptor }
        let code = errno
        _ = close(descriptor)
        errno = code
        return nil
    }

    /// Makes a descriptor nonblocking, and hides it from child processes.
    static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    static func accepted(from listening: Int32) -> Int32? {
        let descriptor = accept(listening, nil, nil)
        guard descriptor >= 0 else { return nil }
        prepare(descriptor)
        #if canImport(Darwin)
            var on: Int32 = 1
            _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
        return descriptor
    }

    /// Appends the bytes that have arrived. Returns false when the connection has ended.
    static func receive(_ descriptor: Int32, into bytes: inout [UInt8]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
        bytes += buffer[..<count]
        return true
    }

    /// Sends a response with a single call. It always fits, because it is smaller than the send buffer.
    static func send(_ response: String, to descriptor: Int32) {
        let bytes = Array(response.utf8)
        #if canImport(Darwin)
            _ = unsafe write(descriptor, bytes, bytes.count)
        #else
            _ = sendWithoutSignal(descriptor, bytes)
        #endif
    }
}

#if !canImport(Darwin)
    /// Calls the system function `send`, which ``LoopbackSocket/send(_:to:)`` hides.
    private func sendWithoutSignal(_ descriptor: Int32, _ bytes: [UInt8]) -> Int {
        unsafe send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
#endif

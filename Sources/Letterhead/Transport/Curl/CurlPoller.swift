#if os(Linux)
    import CLibcurl
    import Glibc

    /// Which sockets wait for what, for one thread: epoll, kept as libcurl asks. A class, since libcurl's callback holds
    /// its address.
    final class CurlPoller {
        private let descriptor: CInt
        private let wakeDescriptor: CInt
        private var events: [epoll_event]
        /// The sockets whose beginning and end are told, by descriptor.
        private var own: [Own?] = []

        /// It stays registered while nobody wants anything of it: a kept connection's next request wants what the last one
        /// did, and that costs no system call then.
        private struct Own {
            /// What the kernel was asked to tell; zero is nothing.
            var registered: UInt32 = 0
            var isWanted = false
        }

        init?(wakeDescriptor: CInt) {
            descriptor = epoll_create1(CInt(EPOLL_CLOEXEC))
            self.wakeDescriptor = wakeDescriptor
            events = Array(repeating: epoll_event(), count: 128)
            guard descriptor >= 0, wakeDescriptor >= 0 else { return nil }
            // Edge-triggered: each wake is told once, and nobody has to read the counter back.
            var event = epoll_event()
            event.events = EPOLLIN.rawValue | EPOLLET.rawValue
            event.data.fd = wakeDescriptor
            guard epoll_ctl(descriptor, EPOLL_CTL_ADD, wakeDescriptor, &event) == 0 else { return nil }
        }

        deinit { if descriptor >= 0 { close(descriptor) } }

        /// Watches a socket for what libcurl wants of it; `isKnown` is whether it was watched before.
        func watch(_ socket: CInt, wants: CInt, isKnown: Bool) {
            var event = epoll_event()
            if wants & CInt(CURL_POLL_WANTS_IN) != 0 { event.events |= EPOLLIN.rawValue }
            if wants & CInt(CURL_POLL_WANTS_OUT) != 0 { event.events |= EPOLLOUT.rawValue }
            event.data.fd = socket
            let before = self[socket]
            if before != nil { self[socket] = Own(registered: event.events, isWanted: true) }
            if before?.registered == event.events { return }
            let isRegistered = before.map { $0.registered != 0 } ?? isKnown
            let first = isRegistered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD
            if epoll_ctl(descriptor, first, socket, &event) != 0 {
                // A closed descriptor's number came back as another socket: the kernel's view decides.
                _ = epoll_ctl(descriptor, isRegistered ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event)
            }
        }

        /// libcurl wants nothing more of a socket.
        func unwatch(_ socket: CInt) {
            if let own = self[socket] {
                self[socket] = Own(registered: own.registered, isWanted: false)
            } else {
                unregister(socket)
            }
        }

        /// A socket was opened whose end will be told too.
        func opened(_ socket: CInt) { self[socket] = Own() }

        /// A socket is about to be closed.
        func closed(_ socket: CInt) {
            if let own = self[socket], own.registered != 0 { unregister(socket) }
            self[socket] = nil
        }

        private func unregister(_ socket: CInt) {
            var event = epoll_event()
            _ = epoll_ctl(descriptor, EPOLL_CTL_DEL, socket, &event)
        }

        private subscript(socket: CInt) -> Own? {
            get { own.indices.contains(Int(socket)) ? own[Int(socket)] : nil }
            set {
                let missing = Int(socket) + 1 - own.count
                if missing > 0 { own += Array(repeating: nil, count: missing) }
                own[Int(socket)] = newValue
            }
        }

        /// Waits, and calls `body` for each socket with what it is ready for, in libcurl's numbers. Less than no time is for
        /// ever.
        func wait(nanoseconds: Int64, _ body: (CInt, CInt) -> Void) {
            let count = lh_epoll_wait(descriptor, &events, CInt(events.count), nanoseconds)
            guard count > 0 else { return }
            for index in 0..<Int(count) where events[index].data.fd != wakeDescriptor {
                let (socket, ready) = (events[index].data.fd, events[index].events)
                if self[socket]?.isWanted == false {
                    // A kept connection: libcurl finds out when it uses it again.
                    unregister(socket)
                    self[socket] = Own()
                    continue
                }
                var mask: CInt = 0
                if ready & EPOLLIN.rawValue != 0 { mask |= CInt(CURL_SELECT_IN) }
                if ready & EPOLLOUT.rawValue != 0 { mask |= CInt(CURL_SELECT_OUT) }
                if ready & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { mask |= CInt(CURL_SELECT_ERROR) }
                body(socket, mask)
            }
        }
    }
#endif

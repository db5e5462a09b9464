#if os(Linux)
    import CLibcurl
    import Glibc

    /// Which sockets wait for what, for one thread: epoll, kept as libcurl asks. A class, since libcurl's callback holds
    /// its address. Its lists are unchecked, since no callback comes while one of them changes.
    final class CurlPoller {
        private let descriptor: CInt
        private let wakeDescriptor: CInt
        @exclusivity(unchecked) private var events: [epoll_event]
        /// The sockets that libcurl wants something of, and those that are kept, by descriptor.
        @exclusivity(unchecked) private var watches: [Watch?] = []

        private struct Watch {
            /// What the kernel was asked to tell; none is nothing.
            var registered: UInt32 = 0
            var isWanted = false
            /// Stays registered while nobody wants anything of it: the next request wants what the last one did, and that
            /// costs no system call then.
            var isKept = false
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

        /// Watches a socket for what libcurl wants of it.
        func watch(_ socket: CInt, wants: CInt) {
            guard socket >= 0 else { return }
            var event = epoll_event()
            if wants & CInt(CURL_POLL_WANTS_IN) != 0 { event.events |= EPOLLIN.rawValue }
            if wants & CInt(CURL_POLL_WANTS_OUT) != 0 { event.events |= EPOLLOUT.rawValue }
            event.data.fd = socket
            let before = self[socket] ?? Watch()
            self[socket] = Watch(registered: event.events, isWanted: true, isKept: before.isKept)
            if before.isKept, before.registered == event.events { return }
            let isRegistered = before.registered != 0
            if epoll_ctl(descriptor, isRegistered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event) != 0 {
                // A closed descriptor's number came back as another socket: the kernel's view decides.
                _ = epoll_ctl(descriptor, isRegistered ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event)
            }
        }

        /// libcurl wants nothing more of a socket for now.
        func unwatch(_ socket: CInt) {
            if let watch = self[socket], watch.isKept {
                self[socket]?.isWanted = false
            } else {
                forget(socket)
            }
        }

        /// A socket is that of a kept connection, whose end will be told.
        func keep(_ socket: CInt) {
            if self[socket] == nil { self[socket] = Watch() }
            self[socket]?.isKept = true
        }

        /// A socket is about to be closed, or nobody will say when it is.
        func forget(_ socket: CInt) {
            guard let watch = self[socket] else { return }
            if watch.registered != 0 { unregister(socket) }
            self[socket] = nil
        }

        private func unregister(_ socket: CInt) {
            var event = epoll_event()
            _ = epoll_ctl(descriptor, EPOLL_CTL_DEL, socket, &event)
        }

        /// libcurl may name a socket of -1: before 8.1 it does when a connection has no socket yet. There is nothing to watch.
        private subscript(socket: CInt) -> Watch? {
            get { watches.indices.contains(Int(socket)) ? watches[Int(socket)] : nil }
            set {
                guard socket >= 0 else { return }
                let missing = Int(socket) + 1 - watches.count
                if missing > 0 { watches += Array(repeating: nil, count: missing) }
                watches[Int(socket)] = newValue
            }
        }

        /// Waits until something is ready, and says how much. Less than no time is for ever.
        func wait(nanoseconds: Int64) -> Int {
            max(0, Int(lh_epoll_wait(descriptor, &events, CInt(events.count), nanoseconds)))
        }

        /// Calls `body` for each socket of so many that are ready, with what it is ready for, in libcurl's numbers.
        func report(_ count: Int, _ body: (CInt, CInt) -> Void) {
            for index in 0..<count where events[index].data.fd != wakeDescriptor {
                let (socket, ready) = (events[index].data.fd, events[index].events)
                if self[socket]?.isWanted == false {
                    // A kept connection, perhaps closed by its server: libcurl finds out when it uses it again.
                    unregister(socket)
                    self[socket]?.registered = 0
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

#if os(Linux)
    import CLibcurl
    import Glibc

    /// Which sockets wait for what, for one thread: epoll, kept as libcurl asks. A class, since libcurl's callback holds
    /// its address.
    final class CurlPoller {
        private let descriptor: CInt
        private let wakeDescriptor: CInt
        private var events: [epoll_event]

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
            let first = isKnown ? EPOLL_CTL_MOD : EPOLL_CTL_ADD
            if epoll_ctl(descriptor, first, socket, &event) != 0 {
                // A closed descriptor's number came back as another socket: the kernel's view decides.
                _ = epoll_ctl(descriptor, isKnown ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event)
            }
        }

        func forget(_ socket: CInt) {
            var event = epoll_event()
            _ = epoll_ctl(descriptor, EPOLL_CTL_DEL, socket, &event)
        }

        /// Waits, and calls `body` for each socket with what it is ready for, in libcurl's numbers. Less than no time is for
        /// ever.
        func wait(nanoseconds: Int64, _ body: (CInt, CInt) -> Void) {
            let count = lh_epoll_wait(descriptor, &events, CInt(events.count), nanoseconds)
            guard count > 0 else { return }
            for index in 0..<Int(count) where events[index].data.fd != wakeDescriptor {
                let ready = events[index].events
                var mask: CInt = 0
                if ready & EPOLLIN.rawValue != 0 { mask |= CInt(CURL_SELECT_IN) }
                if ready & EPOLLOUT.rawValue != 0 { mask |= CInt(CURL_SELECT_OUT) }
                if ready & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { mask |= CInt(CURL_SELECT_ERROR) }
                body(events[index].data.fd, mask)
            }
        }
    }
#endif

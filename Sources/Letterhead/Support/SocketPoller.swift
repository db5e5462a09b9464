#if os(Linux)
    import CLibcurl
    import Glibc

    /// Waits for many sockets on one thread, with epoll. A class, since it owns a descriptor.
    ///
    /// Its lists are unchecked: ``report(_:_:)`` changes none of them while it calls its closure.
    final class SocketPoller {
        /// What a socket is ready for, or is to be watched for.
        struct Readiness: OptionSet {
            let rawValue: CInt
            static let reading = Self(rawValue: 1)
            static let writing = Self(rawValue: 2)
            static let failed = Self(rawValue: 4)
        }

        private let descriptor: CInt
        private let wakeDescriptor: CInt
        @exclusivity(unchecked) private var events: [epoll_event]
        /// The sockets that are watched and those that are kept, by descriptor.
        @exclusivity(unchecked) private var watches: [CInt: Watch] = [:]

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

        /// Watches a socket. A descriptor below zero is ignored.
        func watch(_ socket: CInt, for wanted: Readiness) {
            guard socket >= 0 else { return }
            var event = epoll_event()
            if wanted.contains(.reading) { event.events |= EPOLLIN.rawValue }
            if wanted.contains(.writing) { event.events |= EPOLLOUT.rawValue }
            event.data.fd = socket
            let before = watches[socket] ?? Watch()
            watches[socket] = Watch(registered: event.events, isWanted: true, isKept: before.isKept)
            if before.isKept, before.registered == event.events { return }
            let isRegistered = before.registered != 0
            if epoll_ctl(descriptor, isRegistered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event) != 0 {
                // A closed descriptor's number came back as another socket: the kernel's view decides.
                _ = epoll_ctl(descriptor, isRegistered ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event)
            }
        }

        /// Nothing more is wanted of a socket for now.
        func unwatch(_ socket: CInt) {
            if let watch = watches[socket], watch.isKept {
                watches[socket]?.isWanted = false
            } else {
                forget(socket)
            }
        }

        /// A socket is that of a kept connection, whose end will be told.
        func keep(_ socket: CInt) {
            if socket >= 0 { watches[socket, default: Watch()].isKept = true }
        }

        /// A socket is about to be closed, or nobody will say when it is.
        func forget(_ socket: CInt) {
            guard let watch = watches[socket] else { return }
            if watch.registered != 0 { unregister(socket) }
            watches[socket] = nil
        }

        private func unregister(_ socket: CInt) {
            var event = epoll_event()
            _ = epoll_ctl(descriptor, EPOLL_CTL_DEL, socket, &event)
        }

        /// Waits until something is ready, and says how much. Less than no time is for ever.
        func wait(nanoseconds: Int64) -> Int {
            max(0, Int(lh_epoll_wait(descriptor, &events, CInt(events.count), nanoseconds)))
        }

        /// Calls `body` for each socket of so many that are ready, with what it is ready for.
        func report(_ count: Int, _ body: (CInt, Readiness) -> Void) {
            for index in 0..<count where events[index].data.fd != wakeDescriptor {
                let (socket, ready) = (events[index].data.fd, events[index].events)
                if watches[socket]?.isWanted == false {
                    // A kept connection, perhaps closed by its server: the next use finds out.
                    unregister(socket)
                    watches[socket]?.registered = 0
                    continue
                }
                var readiness: Readiness = []
                if ready & EPOLLIN.rawValue != 0 { readiness.insert(.reading) }
                if ready & EPOLLOUT.rawValue != 0 { readiness.insert(.writing) }
                if ready & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { readiness.insert(.failed) }
                body(socket, readiness)
            }
        }
    }
#endif

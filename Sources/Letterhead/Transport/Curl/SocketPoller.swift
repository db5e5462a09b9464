// SPDX-License-Identifier: MIT
#if os(Linux)
    import CLibcurl
    import LetterheadFoundation

    /// Waits for many sockets on one thread, with epoll.
    ///
    /// Its collections use unchecked exclusivity: ``report(_:_:)`` doesn't change them while it calls its closure. The
    /// kernel reads and writes events only until its functions return, and the user data of an event is always a
    /// descriptor.
    @safe final class SocketPoller {
        /// The events that a socket is ready for, or that are watched.
        struct Readiness: OptionSet {
            let rawValue: CInt
            static let reading = Self(rawValue: 1)
            static let writing = Self(rawValue: 2)
            static let failed = Self(rawValue: 4)
        }

        private let descriptor: CInt
        private let wakeDescriptor: CInt
        @safe @exclusivity(unchecked) private var events: [epoll_event]
        /// The watched sockets and those that stay registered, by descriptor.
        @safe @exclusivity(unchecked) private var watches: [CInt: Watch] = [:]

        private struct Watch {
            /// The events that are registered with the kernel, or 0 if the socket isn't registered.
            var registered: UInt32 = 0
            var isWanted = false
            /// Whether the socket stays registered while no events are wanted. The next request usually wants the same
            /// events, and then no system call is necessary.
            var isKept = false
        }

        init?(wakeDescriptor: CInt) {
            descriptor = epoll_create1(CInt(EPOLL_CLOEXEC))
            self.wakeDescriptor = wakeDescriptor
            events = unsafe Array(repeating: epoll_event(), count: 128)
            guard descriptor >= 0, wakeDescriptor >= 0 else { return nil }
            // Edge-triggered: each wake is reported once, so the counter need not be read.
            guard control(EPOLL_CTL_ADD, wakeDescriptor, EPOLLIN.rawValue | EPOLLET.rawValue) else { return nil }
        }

        deinit { if descriptor >= 0 { close(descriptor) } }

        /// Watches a socket. A negative descriptor is ignored.
        func watch(_ socket: CInt, for wanted: Readiness) {
            guard socket >= 0 else { return }
            var events: UInt32 = 0
            if wanted.contains(.reading) { events |= EPOLLIN.rawValue }
            if wanted.contains(.writing) { events |= EPOLLOUT.rawValue }
            let before = watches[socket] ?? Watch()
            watches[socket] = Watch(registered: events, isWanted: true, isKept: before.isKept)
            if before.isKept, before.registered == events { return }
            let isRegistered = before.registered != 0
            if !control(isRegistered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, events) {
                // A closed descriptor was reused for a different socket. The state in the kernel is authoritative.
                _ = control(isRegistered ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, events)
            }
        }

        func unwatch(_ socket: CInt) {
            if let watch = watches[socket], watch.isKept {
                watches[socket]?.isWanted = false
            } else {
                forget(socket)
            }
        }

        /// Keeps a socket registered. It belongs to an idle connection, and its end will be reported.
        func keep(_ socket: CInt) {
            if socket >= 0 { watches[socket, default: Watch()].isKept = true }
        }

        /// Removes a socket that is about to be closed, or that will not report its end.
        func forget(_ socket: CInt) {
            guard let watch = watches[socket] else { return }
            if watch.registered != 0 { unregister(socket) }
            watches[socket] = nil
        }

        private func unregister(_ socket: CInt) { _ = control(EPOLL_CTL_DEL, socket) }

        private func control(_ operation: CInt, _ socket: CInt, _ events: UInt32 = 0) -> Bool {
            var event = unsafe epoll_event(events: events, data: epoll_data_t(fd: socket))
            return unsafe epoll_ctl(descriptor, operation, socket, &event) == 0
        }

        /// Waits until sockets are ready, and returns their number. With a negative time it waits forever.
        func wait(nanoseconds: Int64) -> Int {
            max(0, Int(unsafe lh_epoll_wait(descriptor, &events, CInt(events.count), nanoseconds)))
        }

        /// Calls `body` for each of the first `count` ready sockets, with its ready events.
        func report(_ count: Int, _ body: (CInt, Readiness) -> Void) {
            for index in 0..<count {
                let (socket, ready) = unsafe (events[index].data.fd, events[index].events)
                if socket == wakeDescriptor { continue }
                if watches[socket]?.isWanted == false {
                    // The connection is idle, and its server may have closed it. The next use detects that.
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

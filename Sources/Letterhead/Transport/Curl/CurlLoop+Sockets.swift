#if os(Linux)
    import CLibcurl
    import Glibc

    // libcurl's callbacks for sockets and for its timer, and the wait for both.
    //
    // The raw values of `SocketPoller.Readiness` equal CURL_POLL_IN and CURL_POLL_OUT, and also CURL_CSELECT_IN,
    // CURL_CSELECT_OUT and CURL_CSELECT_ERR.

    extension CurlLoop {
        /// Waits until a socket is ready, a deadline passes or a command is posted, and lets libcurl use the ready
        /// sockets. Does not wait if there are commands to execute.
        func sleep() {
            let isAsleep = mailbox.fallAsleep()
            let count = poller.wait(nanoseconds: isAsleep ? waitingTime : 0)
            if isAsleep { mailbox.wakeUp() }
            // The bytes that libcurl reads next arrived just now, not when the wait began.
            tick()
            poller.report(count) { socket, ready in act(on: socket, ready.rawValue) }
        }

        func act(on socket: CInt, _ ready: CInt) {
            if socket == Self.noSocket { libcurlDeadline = .max }
            var running: CInt = 0
            curl_multi_socket_action(multi, socket, ready, &running)
        }

        /// The number of nanoseconds until the next deadline; -1 if there is none.
        private var waitingTime: Int64 {
            let next = min(libcurlDeadline, ownDeadline)
            guard next != .max else { return -1 }
            return next > now ? Int64(clamping: next - now) : 0
        }

        @discardableResult
        func tick() -> UInt64 {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            now = UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
            return now
        }

        /// Calls a closure with the loop to which a callback belongs.
        private static func with(_ context: UnsafeMutableRawPointer?, _ work: (CurlLoop) -> Void) {
            if let context { Unmanaged<CurlLoop>.fromOpaque(context)._withUnsafeGuaranteedRef(work) }
        }

        static let onSocket: LHCurlSocket = { _, socket, what, context, _ in
            CurlLoop.with(context) { loop in
                if what == CInt(CURL_POLL_REMOVED) {
                    loop.poller.unwatch(socket)
                } else {
                    loop.poller.watch(socket, for: SocketPoller.Readiness(rawValue: what))
                }
            }
            return 0
        }

        /// Closes the socket of a connection, perhaps long after the handle that opened it was released.
        static let onCloseSocket: LHCurlCloseSocket = { context, socket in
            CurlLoop.with(context) { loop in
                loop.poller.forget(socket)
                loop.closedSocket = socket
            }
            return close(socket)
        }

        static let onAlert: LHCurlAlert = { context, session, alert in
            CurlLoop.with(context) { $0.note(alert: alert, of: session) }
        }

        static let onTimer: LHCurlTimer = { _, milliseconds, context in
            CurlLoop.with(context) { $0.setLibcurlTimer(milliseconds) }
            return 0
        }

        /// Sets the time at which libcurl is called next: after this many milliseconds, immediately if the number is
        /// zero, or never if it is negative.
        private func setLibcurlTimer(_ milliseconds: Int) {
            guard milliseconds > 0 else { return libcurlDeadline = milliseconds < 0 ? .max : 0 }
            libcurlDeadline = tick() + UInt64(milliseconds) * 1_000_000
        }
    }
#endif

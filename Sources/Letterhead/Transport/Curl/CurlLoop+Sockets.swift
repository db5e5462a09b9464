#if os(Linux)
    import CLibcurl
    import Glibc

    // The numbers of `SocketPoller.Readiness` are those of CURL_POLL_IN and CURL_POLL_OUT, and of CURL_CSELECT_IN, OUT and ERR.
    //
    // Which sockets libcurl wants to be told of, and when it wants to be called: its callbacks, and the wait for both.

    extension CurlLoop {
        /// Waits for the sockets, and lets libcurl use those that are ready. Does not wait when there is a command to take.
        func sleep() {
            let isAsleep = mailbox.fallAsleep()
            let count = poller.wait(nanoseconds: isAsleep ? waitingTime : 0)
            if isAsleep { mailbox.wakeUp() }
            // What has arrived came now, and not when the wait began.
            tick()
            poller.report(count) { socket, ready in act(on: socket, ready.rawValue) }
        }

        func act(on socket: CInt, _ ready: CInt) {
            if socket == Self.noSocket { libcurlDeadline = .max }
            var running: CInt = 0
            curl_multi_socket_action(multi, socket, ready, &running)
        }

        /// How many nanoseconds it is until the next deadline; -1 is for ever.
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

        /// Works with the one to which a callback belongs.
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

        /// A connection is closed: perhaps long after the handle that opened it is gone.
        static let onCloseSocket: LHCurlCloseSocket = { context, socket in
            CurlLoop.with(context) { $0.poller.forget(socket) }
            return close(socket)
        }

        static let onCloseNotify: LHCurlCloseNotify = { context, session in
            CurlLoop.with(context) { $0.noteCloseNotify(session) }
        }

        static let onTimer: LHCurlTimer = { _, milliseconds, context in
            CurlLoop.with(context) { $0.setLibcurlTimer(milliseconds) }
            return 0
        }

        /// libcurl wants to be called so many milliseconds from now, at once when it is zero, never when it is less.
        private func setLibcurlTimer(_ milliseconds: Int) {
            guard milliseconds > 0 else { return libcurlDeadline = milliseconds < 0 ? .max : 0 }
            libcurlDeadline = tick() + UInt64(milliseconds) * 1_000_000
        }
    }
#endif

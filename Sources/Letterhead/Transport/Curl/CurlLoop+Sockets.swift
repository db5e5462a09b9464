#if os(Linux)
    import CLibcurl
    import Glibc

    // Which sockets libcurl wants to be told of, and when it wants to be called: its callbacks, and the wait for both.

    extension CurlLoop {
        /// Waits for the sockets; false when there is a command to take first.
        @discardableResult
        func sleep(until end: UInt64) -> Bool {
            let isAsleep = mailbox.fallAsleep()
            let time = isAsleep ? waitingTime(until: end) : 0
            poller.wait(nanoseconds: time) { socket, ready in act(on: socket, ready) }
            if isAsleep { mailbox.awake() }
            return isAsleep
        }

        func act(on socket: CInt, _ ready: CInt) {
            if socket == Self.noSocket { libcurlDeadline = .max }
            var running: CInt = 0
            curl_multi_socket_action(multi, socket, ready, &running)
        }

        /// How many nanoseconds it is until the next deadline; -1 is for ever.
        private func waitingTime(until end: UInt64) -> Int64 {
            let next = min(libcurlDeadline, ownDeadline, executorDeadline, end)
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

        private static func from(_ context: UnsafeMutableRawPointer?) -> CurlLoop? {
            context.map { Unmanaged<CurlLoop>.fromOpaque($0).takeUnretainedValue() }
        }

        static let onSocket: LHCurlSocket = { _, socket, what, context, _ in
            guard let poller = CurlLoop.from(context)?.poller else { return 0 }
            if what == CInt(CURL_POLL_REMOVED) { poller.unwatch(socket) } else { poller.watch(socket, wants: what) }
            return 0
        }

        /// A connection is closed: perhaps long after the handle that opened it is gone.
        static let onCloseSocket: LHCurlCloseSocket = { context, socket in
            CurlLoop.from(context)?.poller.forget(socket)
            return close(socket)
        }

        static let onTimer: LHCurlTimer = { _, milliseconds, context in
            guard let loop = CurlLoop.from(context) else { return 0 }
            loop.libcurlDeadline = milliseconds < 0 ? .max : loop.tick() + UInt64(milliseconds) * 1_000_000
            return 0
        }
    }
#endif

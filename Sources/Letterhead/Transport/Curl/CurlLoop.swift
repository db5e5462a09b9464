// SPDX-License-Identifier: MIT
#if os(Linux)
    import CLibcurl
    import LetterheadFoundation

    /// The event loop that owns libcurl: it executes commands, waits for sockets, and ends transfers.
    ///
    /// The callbacks of libcurl store its address. Only its thread uses it and the handles of libcurl, which exist
    /// until ``CurlCarrier`` or this object ends. The arrays of transfers use unchecked exclusivity, because libcurl
    /// calls no callback while one of them changes.
    @safe final class CurlLoop {
        let configuration: TransportConfiguration
        private(set) var share: OpaquePointer
        let mailbox: CurlMailbox
        var multi: OpaquePointer
        let poller: SocketPoller
        /// The time that ``tick()`` last read from a monotonic clock, in nanoseconds.
        var now: UInt64 = 0
        /// The entries of `connectTo`, in memory that libcurl reads.
        let connectTo: CurlText?
        /// The form of the request target for requests without TLS.
        let plainTarget: TransportConfiguration.Proxy.PlainTarget
        /// When libcurl must be called next, and the earliest deadlines of transfers and of idle direct connections.
        var libcurlDeadline = UInt64.max
        /// Whether libcurl may begin transfers that it has held back, without setting its timer.
        private var mayBeginHeld = false
        var (ownDeadline, idleDeadline) = (UInt64.max, UInt64.max)
        /// The direct connections, by descriptor, and their number.
        @safe @exclusivity(unchecked) var connections: [DirectConnection?] = []
        private var directCount = 0
        /// The number of idle direct connections.
        var idleCount = 0
        /// Spreads the ages of direct connections.
        var openedCount: UInt64 = 0
        /// The memory into which direct connections receive. No connection keeps bytes in it after a call.
        let buffer: UnsafeMutableRawBufferPointer
        /// When a transfer last got a connection.
        var lastBegun: UInt64 = 0
        /// The limit for waiting transfers, in nanoseconds.
        let queueTimeout: UInt64
        var closedSocket = noSocket
        var lastOrigin: CurlOrigin?
        /// Holds transfers back until a connection is free. Without it, libcurl 8.14 and 8.15 would try all waiting
        /// transfers again whenever one ends (issue 18017 of libcurl), and their connect timeout would run while they
        /// wait.
        var queue: ConnectionQueue<Exchange>
        /// For each TLS session, the transfer that was last sent on its connection, until that transfer ends.
        @safe @exclusivity(unchecked) var lastUsers: [TLSSession: CurlCarrier] = [:]
        @safe @exclusivity(unchecked) private(set) var active: [Exchange] = []
        @safe @exclusivity(unchecked) private var unread: [ReceivePipe] = []
        @safe @exclusivity(unchecked) private var idle: [CurlCarrier] = []
        /// The clients that have sent requests. A reset closes the connections only if no other client is left.
        private var users: [ObjectIdentifier: ClientGeneration.Reference] = [:]
        private var userLimit = 64
        private var commands: [CurlMailbox.Command] = []
        /// The origins whose connection has just shown that it carries only one transfer at a time.
        @safe @exclusivity(unchecked) var separated: [ConnectionQueue<Exchange>.Lane] = []
        private var (isStopped, piecesLeft) = (false, 0)

        init(_ mailbox: CurlMailbox) throws(TransportFailure) {
            guard let poller = SocketPoller(wakeDescriptor: mailbox.wakeDescriptor),
                let handles = unsafe Self.makeHandles()
            else { throw .exhausted }
            unsafe (multi, share) = handles
            configuration = mailbox.configuration
            queue = ConnectionQueue(
                mostPerOrigin: configuration.maximumConnectionsPerHost, most: configuration.maximumConnections)
            queueTimeout = configuration.queueTimeout?.wholeNanoseconds ?? .max
            connectTo = configuration.connectTo.isEmpty ? nil : CurlText(connectTo: configuration.connectTo)
            plainTarget = TransportConfiguration.Proxy.PlainTarget(configuration.proxy)
            self.mailbox = mailbox
            self.poller = poller
            unsafe buffer = .allocate(byteCount: Self.bufferSize, alignment: 16)
            guard prepare() else { throw .unsupported }
        }

        deinit {
            closeIdleConnections()
            idle = []
            unsafe curl_multi_cleanup(multi)
            unsafe curl_share_cleanup(share)
            unsafe buffer.deallocate()
        }

        func run() {
            unsafe lh_curl_set_alert(Self.onAlert, Unmanaged.passUnretained(self).toOpaque())
            defer { lh_curl_set_alert(nil, nil) }
            while true {
                piecesLeft = Self.mostPieces
                takeCommands()
                if isStopped { break }
                if mayBeginHeld || libcurlDeadline <= now { act(on: Self.noSocket, 0) }
                endFinished()
                // A request that has just got a free connection isn't late.
                while let exchange = queue.next() { add(exchange) }
                if ownDeadline <= now { endLate() }
                while let exchange = queue.next() { add(exchange) }
                if idleDeadline <= now { closeExpired() }
                flush()
                sleep()
            }
            while let exchange = active.last { fail(exchange, .exhausted) }
        }

        /// Returns whether a transfer may receive a piece of a body before the loop next looks at the clock.
        ///
        /// libcurl reads from one socket as long as bytes arrive, up to 25 MiB at a time. If a server sends them in
        /// chunks of one byte, the other transfers would have to wait for seconds.
        func mayReceive() -> Bool {
            piecesLeft -= 1
            return piecesLeft >= 0
        }

        private static func makeHandles() -> (multi: OpaquePointer, share: OpaquePointer)? {
            guard let multi = unsafe curl_multi_init() else { return nil }
            guard let share = unsafe curl_share_init() else {
                unsafe curl_multi_cleanup(multi)
                return nil
            }
            return unsafe (multi, share)
        }

        private func prepare() -> Bool {
            let context = unsafe Unmanaged.passUnretained(self).toOpaque()
            let results = unsafe [
                lh_curl_multi_set_socket(multi, Self.onSocket, context),
                lh_curl_multi_set_timer(multi, Self.onTimer, context),
                lh_curl_multi_set_long(multi, .maximumHostConnections, configuration.maximumSharedConnectionsPerHost),
                limitConnections(),
                lh_curl_multi_set_long(multi, .maximumIdleConnections, configuration.maximumConnections),
                lh_curl_share_tls_sessions(share),
            ]
            // libcurl would open a new connection for every 100 streams, even if the server allows more of them.
            _ = unsafe lh_curl_multi_set_long(multi, .maximumStreams, Int(CInt.max))
            return results.allSatisfy { $0 == 0 }
        }

        /// Lets libcurl use the connections that aren't direct.
        ///
        /// With DNS over HTTPS, libcurl counts a request as a connection while it opens a second connection to the
        /// resolver. libcurl therefore has no limit on all connections in this case. The queue limits the connections
        /// of requests.
        private func limitConnections() -> CInt {
            let most = configuration.dnsOverHTTPS == nil ? max(1, configuration.maximumConnections - directCount) : 0
            return unsafe lh_curl_multi_set_long(multi, .maximumTotalConnections, most)
        }

        /// Counts a direct connection without TLS that was opened (1) or closed (-1). libcurl counts the others itself.
        func noteDirectConnections(_ change: Int) {
            directCount += change
            _ = limitConnections()
        }

        static let noSocket: CInt = -1
        private static let idleHandles = 64
        /// 64 MiB in pieces of the usual size, or a few milliseconds.
        private static let mostPieces = 4096
        /// In bytes, as much as libcurl receives at a time for a streamed body.
        private static let bufferSize = 256 << 10
    }

    // MARK: Commands

    extension CurlLoop {
        private func takeCommands() {
            mailbox.take(into: &commands)
            guard !commands.isEmpty else { return }
            tick()
            // Commands are executed in order, the oldest first. They are removed from the reversed array, because
            // copying a command costs as much as executing most of them.
            if commands.count > 1 { commands.reverse() }
            while let command = commands.popLast() {
                switch command {
                case .start(let exchange): start(exchange)
                case .resume(let exchange): resume(exchange)
                case .cancel(let exchange):
                    if exchange.isActive { end(exchange, .failure(.cancelled)) }
                case .sweep(let transfersWithoutClient, let done):
                    sweep(transfersWithoutClient: transfersWithoutClient)
                    done.resume()
                case .stop: isStopped = true
                case .park(let done):
                    done()
                    while true { pause() }
                }
            }
        }

        private func start(_ exchange: Exchange) {
            guard exchange.isPending else { return }  // It was cancelled before it was taken.
            // The transfer has arrived after a reset of its client has swept the loop.
            if exchange.request.wasReset { return exchange.finish(.failure(.cancelled.unsent)) }
            if let generation = exchange.request.context.generation { note(generation) }
            // Until TLS has negotiated HTTP/2, no connection can be shared.
            let isShared = exchange.plan.mayShareConnections && exchange.plan.httpVersion.isMultiplexedWithoutSession
            let lane = queue.lane(of: exchange.plan.origin, isExclusive: !isShared)
            exchange.begin(in: lane, at: now)
            exchange.place = active.count
            active.append(exchange)
            exchange.ticket = queue.enter(lane, exchange)
            note(exchange.deadline(on: self))
            if !exchange.isWaiting { add(exchange) }
        }

        private func newCarrier(for exchange: Exchange) -> CurlCarrier? {
            guard let handle = exchange.handle ?? CurlHandle(configuration) else { return nil }
            return CurlCarrier(loop: self, handle: handle)
        }

        private func note(_ user: ClientGeneration) {
            let key = ObjectIdentifier(user.client)
            guard users[key]?.isCurrent != true else { return }
            users[key] = ClientGeneration.Reference(user)
            guard users.count > userLimit else { return }
            users = users.filter { $0.value.isCurrent }
            userLimit = max(64, 2 * users.count)
        }

        /// Begins a transfer. There is an idle connection for it, libcurl may open one, or it may share one.
        private func add(_ exchange: Exchange) {
            exchange.endWaiting(at: now)
            // A transfer that shares its connection takes none that others wait for.
            if let lane = exchange.lane, lane.isExclusive || lane.underWay == 1 {
                (lastBegun, lane.lastBegun) = (now, now)
            }
            if case .pulled(let source) = exchange.plan.content { source.start(onMore: exchange.onMore) }
            guard exchange.plan.isDirect, let lane = exchange.lane else { return join(exchange) }
            beginDirectly(exchange, in: lane)
        }

        /// Adds a transfer to libcurl, which carries it, or only opens its connection.
        func join(_ exchange: Exchange, on carrier: CurlCarrier? = nil) {
            makeRoom()
            (exchange.progress.joinedAt, exchange.progress.isConnecting) = (now, false)
            let carrier = carrier ?? idle.popLast() ?? newCarrier(for: exchange)
            carrier?.begin(exchange)
            guard let carrier, carrier.configure(for: exchange.plan),
                unsafe curl_multi_add_handle(multi, carrier.easy) == 0
            else { return fail(exchange, .unsupported) }
            note(exchange.deadline(on: self))
        }

        /// Resumes a transfer that waits for its reader or for its request body.
        ///
        /// Transfers that libcurl has finished in the meantime are ended first with their own results, because libcurl
        /// refuses to resume them. Only a transfer that is still unfinished then fails with the error of its request
        /// body: the server may have responded before the body failed.
        private func resume(_ exchange: Exchange) {
            if let connection = exchange.connection { return connection.resume() }
            guard exchange.carrier != nil else { return }
            endFinished()
            guard let carrier = exchange.carrier else { return }
            if let failure = exchange.bodyFailure { return end(exchange, exchange.outcome(failing: failure)) }
            guard exchange.progress.isReceivePaused || exchange.progress.isSendPaused else { return }
            (exchange.progress.isReceivePaused, exchange.progress.isSendPaused) = (false, false)
            exchange.progress.lastActivity = now
            note(exchange.deadline(on: self))
            let result = CurlResult(rawValue: carrier.resume())
            // With `badArgument`, libcurl has detached the transfer from its connection, to finish it or to connect
            // again. Such a transfer continues without being resumed.
            if result != .ok, result != .badArgument { end(exchange, carrier.outcome(of: exchange, with: result)) }
        }

        /// Records that a pipe has new bytes. ``flush()`` makes them available to the reader before the thread sleeps.
        func noteUnread(_ pipe: ReceivePipe) {
            if unread.last !== pipe { unread.append(pipe) }
        }

        private func flush() {
            guard !unread.isEmpty else { return }
            for pipe in unread { pipe.flush() }
            unread.removeAll(keepingCapacity: true)
        }

        /// Ensures that deadlines are checked at this time at the latest.
        func note(_ deadline: UInt64) { ownDeadline = min(ownDeadline, deadline) }

        /// Closes all connections and discards the TLS sessions, so that later requests share neither.
        private func forgetConnections() {
            closeIdleConnections()
            guard let handles = unsafe Self.makeHandles() else { return isStopped = true }
            let (oldMulti, oldShare) = unsafe (multi, share)
            idle = []  // These handles still use the share.
            unsafe curl_multi_cleanup(oldMulti)
            unsafe curl_share_cleanup(oldShare)
            unsafe (multi, share, libcurlDeadline) = (handles.multi, handles.share, .max)
            if !prepare() { isStopped = true }
        }

        /// Ends the transfers of clients that have been reset. Unless other clients use the connections, it also closes
        /// them.
        private func sweep(transfersWithoutClient: Bool) {
            for exchange in active {
                guard exchange.request.endsAtReset(withoutClient: transfersWithoutClient) else { continue }
                end(exchange, .failure(.cancelled))
            }
            users = users.filter { $0.value.isCurrent }
            if active.isEmpty, users.isEmpty { forgetConnections() }
        }
    }

    // MARK: Ends

    extension CurlLoop {
        private func endFinished() {
            var code: CInt = 0
            var failures: [(Exchange, ConnectionQueue<Exchange>.Lane, TransportFailure)] = []
            while let easy = unsafe lh_curl_next_finished(multi, &code) {
                guard let carrier = unsafe CurlCarrier.carrier(of: easy), let exchange = carrier.exchange else {
                    continue
                }
                let result = CurlResult(rawValue: code)
                if result == .ok, exchange.plan.isDirect {
                    useConnection(of: carrier, for: exchange)
                    continue
                }
                if sendsAgain(exchange, after: result) { continue }
                if result == .timedOut, CurlQuirks.timesHeldTransfers, exchange.isHeld {
                    rejoin(exchange, on: carrier)
                    continue
                }
                if result == .http2Failed { carrier.retireConnection() }
                let outcome = carrier.outcome(of: exchange, with: result)
                if case .failure(let failure) = outcome, exchange.progress.isConnecting, let lane = exchange.lane {
                    failures.append((exchange, lane, failure))
                }
                end(exchange, outcome)
            }
            for (exchange, lane, failure) in failures { endFollowers(of: exchange, in: lane, failure) }
            while let lane = separated.popLast() { separateFollowers(in: lane) }
        }

        /// Ends the transfers that are past their deadline, and finds the next deadline.
        private func endLate() {
            ownDeadline = .max
            var holders: [ObjectIdentifier: ConnectionHolders] = [:]
            for exchange in active.reversed() where exchange.isActive {
                if let connection = exchange.connection, connection.sendDeadline < .max {
                    if connection.sendDeadline <= now { connection.resumeSending() }
                    guard exchange.isActive else { continue }
                    note(connection.sendDeadline)
                }
                let deadline = exchange.deadline(on: self)
                if deadline <= now {
                    let failure = lateness(of: exchange, &holders)
                    let lane = deadline == exchange.connectDeadline ? exchange.lane : nil
                    end(exchange, exchange.outcome(failing: failure))
                    if let lane { endFollowers(of: exchange, in: lane, failure) }
                } else {
                    note(deadline)
                }
            }
        }

        /// Ends a transfer with a failure that doesn't tell whether the request was sent, and adds that to it.
        func fail(_ exchange: Exchange, _ failure: TransportFailure) {
            var failure = failure
            failure.mayHaveBeenSent = exchange.wasSent
            end(exchange, exchange.outcome(failing: failure))
        }

        /// Removes a transfer from its carrier and completes it. Unless the whole response was read, libcurl closes the
        /// connection, or only the stream if the connection uses HTTP/2.
        func end(_ exchange: Exchange, _ outcome: Exchange.Outcome) {
            if let connection = exchange.connection {
                connection.noteFacts()
                connection.endTransfer()
                keepOrClose(connection)
                if exchange.request.observation != nil, !connection.isOpen { exchange.noteClosed() }
            } else if let carrier = exchange.carrier {
                // libcurl gives up after sending a request five more times. It counts them for all transfers of a
                // handle.
                let usualCount = if case .success = outcome { 1 } else { 0 }
                release(carrier, of: exchange, isReusable: exchange.progress.timesSent == usualCount)
                if usualCount == 0, CurlQuirks.timesHeldTransfers { mayBeginHeld = true }
            }
            if let lane = exchange.lane { queue.leave(lane, ticket: exchange.ticket) }
            exchange.endProgress()
            let last = active.removeLast()
            if last !== exchange {
                active[exchange.place] = last
                last.place = exchange.place
            }
            if active.isEmpty { ownDeadline = .max }
            exchange.pipe?.flush()
            exchange.finish(outcome)
        }

        private func release(_ carrier: CurlCarrier, of exchange: Exchange, isReusable: Bool) {
            carrier.noteFacts(of: exchange)
            let isObserved = carrier.hasObservedConnection(of: exchange)
            let socket = isObserved ? carrier.socket : nil
            closedSocket = Self.noSocket
            release(carrier, isReusable: isReusable)
            // A connection is closed before this point if the transfer has ended it, or just now if the transfer is
            // incomplete.
            if isObserved, socket == nil || socket == closedSocket { exchange.noteClosed() }
        }

        func release(_ carrier: CurlCarrier, isReusable: Bool = true) {
            unsafe curl_multi_remove_handle(multi, carrier.easy)
            carrier.end()
            if CurlQuirks.reusesHandles, isReusable, idle.count < Self.idleHandles { idle.append(carrier) }
        }
    }

    // The callbacks of libcurl for sockets and for its timer, and the wait for both.
    //
    // The raw values of `SocketPoller.Readiness` equal CURL_POLL_IN and CURL_POLL_OUT, and also CURL_CSELECT_IN,
    // CURL_CSELECT_OUT and CURL_CSELECT_ERR.

    extension CurlLoop {
        /// Waits until a socket is ready, a deadline passes or a command is posted, and lets libcurl use the ready
        /// sockets. Does not wait if there are commands to execute.
        func sleep() {
            let isAsleep = !isStopped && mailbox.fallAsleep()
            let count = poller.wait(nanoseconds: isAsleep ? waitingTime : 0)
            if isAsleep { mailbox.wakeUp() }
            // The bytes that libcurl reads next arrived just now, not when the wait began.
            tick()
            poller.report(count) { socket, ready in
                guard let connection = connection(at: socket) else { return act(on: socket, ready.rawValue) }
                connection.act(ready)
            }
            endFinished()
        }

        func act(on socket: CInt, _ ready: CInt) {
            if socket == Self.noSocket {
                mayBeginHeld = false
                if libcurlDeadline <= now { libcurlDeadline = .max }
            }
            var running: CInt = 0
            // Without memory, libcurl may not have told which sockets and times it waits for, so its transfers would
            // never end.
            if unsafe curl_multi_socket_action(multi, socket, ready, &running) != 0 { isStopped = true }
        }

        /// The nanoseconds until the next deadline, or -1 without a deadline.
        private var waitingTime: Int64 {
            let next = min(libcurlDeadline, ownDeadline, idleDeadline)
            guard next != .max || mayBeginHeld else { return -1 }
            return next > now && !mayBeginHeld ? Int64(clamping: next - now) : 0
        }

        @discardableResult
        func tick() -> UInt64 {
            now = UInt64(SystemTime.nanoseconds(of: CLOCK_MONOTONIC))
            return now
        }

        /// Calls a closure with the loop that libcurl passes to a callback. libcurl calls back only until the `deinit`
        /// of the loop returns.
        private static func with(_ context: UnsafeMutableRawPointer?, _ work: (CurlLoop) -> Void) {
            _ = unsafe context.map { unsafe Unmanaged<CurlLoop>.fromOpaque($0)._withUnsafeGuaranteedRef(work) }
        }

        static let onSocket: LHCurlSocket = { _, socket, what, context, _ in
            unsafe CurlLoop.with(context) { loop in
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
            unsafe CurlLoop.with(context) { loop in
                loop.poller.forget(socket)
                loop.closedSocket = socket
            }
            return Glibc.close(socket)
        }

        static let onAlert: LHCurlAlert = { context, session, alert in
            let session = unsafe TLSSession(address: session)
            unsafe CurlLoop.with(context) { loop in
                for exchange in loop.active {
                    exchange.carrier?.note(alert: alert, of: session)
                    exchange.connection?.note(alert: alert, of: session)
                }
            }
        }

        static let onTimer: LHCurlTimer = { _, milliseconds, context in
            unsafe CurlLoop.with(context) { $0.setLibcurlTimer(milliseconds) }
            return 0
        }

        /// Schedules the next call of libcurl: after this many milliseconds, immediately for zero, or never for a
        /// negative number.
        private func setLibcurlTimer(_ milliseconds: Int) {
            guard milliseconds > 0 else { return libcurlDeadline = milliseconds < 0 ? .max : 0 }
            libcurlDeadline = tick() + UInt64(milliseconds) * 1_000_000
        }
    }
#endif

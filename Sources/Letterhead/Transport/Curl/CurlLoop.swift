#if os(Linux)
    import CLibcurl
    import Glibc

    /// What owns libcurl: takes commands, waits for sockets, and ends transfers.
    ///
    /// A class, since libcurl's callbacks hold its address. It is made and freed on its thread, and used by one thread at
    /// a time: its own, or that of a caller to whom ``CurlMailbox`` lends it. Its lists are unchecked, since no callback
    /// of libcurl's comes while one of them changes.
    final class CurlLoop {
        let configuration: TransportConfiguration
        let limits: CurlLimits
        private(set) var share: OpaquePointer
        let mailbox: CurlMailbox
        private let pool: CurlPool
        var multi: OpaquePointer
        let poller: CurlPoller
        /// The time of this round, in nanoseconds of a clock that never goes back.
        var now: UInt64 = 0
        /// When libcurl wants to be called, and when the first of our own time limits may be over.
        var libcurlDeadline = UInt64.max
        var ownDeadline = UInt64.max
        /// When to look again whether those go on who were answered.
        var poolDeadline = UInt64.max
        @exclusivity(unchecked) private var active: [CurlWire] = []
        @exclusivity(unchecked) private var unread: [CurlReceivePipe] = []
        @exclusivity(unchecked) private var idle: [CurlWire] = []
        private var commands: [CurlMailbox.Command] = []
        /// Those that libcurl has done with, and what became of them: told together, so that callers wake together.
        @exclusivity(unchecked) private var done: [(transfer: CurlTransfer, outcome: CurlTransfer.Outcome)] = []
        private var isStopped = false
        /// Whether a caller may work it. What has spoken TLS may do so again when it closes an old connection.
        private var isLent: Bool

        init(
            _ configuration: TransportConfiguration, mailbox: CurlMailbox, pool: CurlPool
        ) throws(TransportFailure) {
            guard let poller = CurlPoller(wakeDescriptor: mailbox.wakeDescriptor), let multi = curl_multi_init() else {
                throw .exhausted
            }
            guard let share = curl_share_init() else {
                curl_multi_cleanup(multi)
                throw .exhausted
            }
            self.configuration = configuration
            limits = CurlLimits(configuration)
            (self.mailbox, self.pool) = (mailbox, pool)
            self.poller = poller
            self.multi = multi
            self.share = share
            isLent = lh_curl_resolves_aside() != 0 && !configuration.proxy.isInUse(isSecure: false)
            guard prepare() else { throw .unsupported }
        }

        deinit {
            idle = []
            curl_multi_cleanup(multi)
            curl_share_cleanup(share)
        }

        /// Works until it is told to stop.
        func run() {
            while true {
                takeCommands()
                if isStopped { break }
                turn()
                if !park() { sleep(until: .max) }
            }
            endAll(.exhausted)
        }

        /// Works at one transfer on its caller's thread, as long as a lock might be held: what is quickly answered needs no
        /// other thread then. Everything else, and all that others ask meanwhile, is left to the loop's own.
        func drive(_ transfer: CurlTransfer) {
            let end = tick() + Self.patience
            start(transfer)
            while transfer.wire != nil {
                turn()
                guard transfer.wire != nil, now < end, sleep(until: end) else { break }
            }
            mailbox.giveBack(isAtRest ? .nothing : .more)
        }

        /// Receives a body on its reader's thread, until there is something for it or a lock should be held no longer.
        func drive(reading pipe: CurlReceivePipe) {
            noteReturn()
            let end = now + Self.patience
            while pipe.isEmpty, now < end {
                let isAlone = sleep(until: end)
                turn()
                if !isAlone { break }
            }
            giveBack(pipe, wasWorthwhile: !pipe.isEmpty)
        }

        /// Goes on with a body on its reader's thread, now that there is room for more.
        func resume(reading pipe: CurlReceivePipe) {
            noteReturn()
            if onlyPipe === pipe { resume(active[0]) }
            turn()
            giveBack(pipe, wasWorthwhile: true)
        }

        /// While a reader was busy nobody listened: that is no idleness of its server's.
        private func noteReturn() {
            tick()
            for wire in active { wire.progress.lastActivity = now }
        }

        private func giveBack(_ pipe: CurlReceivePipe, wasWorthwhile: Bool) {
            let isLeftToReader = onlyPipe === pipe && poolDeadline == .max
            let left = isAtRest ? CurlMailbox.Left.nothing : isLeftToReader ? .body(pipe) : .more
            mailbox.giveBack(left, afterReading: pipe, wasWorthwhile: wasWorthwhile)
        }

        /// Lets the thread wait until it is called; false when it must wait for the sockets.
        private func park() -> Bool {
            guard isLent, poolDeadline == .max else { return false }
            if isAtRest { return mailbox.park(self) }
            guard let pipe = onlyPipe, !pipe.hasReader, mailbox.park(self, besides: pipe) else { return false }
            noteReturn()
            return true
        }

        /// Where a body arrives, when nothing but that is under way.
        private var onlyPipe: CurlReceivePipe? {
            guard active.count == 1, active[0].isReceivingOnly, !poller.awaitsRoom else { return nil }
            return active[0].transfer?.pipe
        }

        private func turn() {
            if libcurlDeadline <= now { act(on: Self.noSocket, 0) }
            endFinished()
            if ownDeadline <= now { endLate() }
            flush()
            poolDeadline = pool.help(at: now) ?? .max
        }

        /// Whether there is nothing to wait for.
        private var isAtRest: Bool { active.isEmpty && libcurlDeadline == .max && poolDeadline == .max }

        private func prepare() -> Bool {
            let context = Unmanaged.passUnretained(self).toOpaque()
            let results = [
                lh_curl_multi_set_socket(multi, Self.onSocket, context),
                lh_curl_multi_set_timer(multi, Self.onTimer, context),
                lh_curl_multi_set_long(multi, .maximumHostConnections, configuration.maximumConnectionsPerHost),
                lh_curl_multi_set_long(multi, .maximumTotalConnections, configuration.maximumConnections),
                lh_curl_multi_set_long(multi, .maximumIdleConnections, configuration.maximumConnections),
                lh_curl_share_tls_sessions(share),
            ]
            return results.allSatisfy { $0 == 0 }
        }

        static let noSocket: CInt = -1
        private static let idleHandles = 64
        /// In nanoseconds.
        private static let patience: UInt64 = 200_000
    }

    // MARK: Commands

    extension CurlLoop {
        private func takeCommands() {
            mailbox.take(into: &commands)
            guard !commands.isEmpty else { return }
            tick()
            // The oldest first, and moved: a copy costs as much as what is asked of most.
            if commands.count > 1 { commands.reverse() }
            while let command = commands.popLast() {
                switch command {
                case .start(let transfer): start(transfer)
                case .resume(let transfer):
                    if let wire = transfer.wire { resume(wire) }
                case .cancel(let transfer):
                    if let wire = transfer.wire { end(wire, .failure(.cancelled)) }
                case .reset(let done):
                    endAll(.cancelled)
                    forgetConnections()
                    done.resume()
                case .stop: isStopped = true
                case .standStill(let done):
                    done()
                    while true { pause() }
                }
            }
        }

        private func start(_ transfer: CurlTransfer) {
            guard transfer.isWanted else { return }  // It was cancelled before it was taken.
            if transfer.plan.isSecure { isLent = false }
            guard let wire = idle.popLast() ?? CurlWire(loop: self) else {
                return transfer.finish(.failure(.unsupported))
            }
            wire.begin(transfer, at: now)
            wire.place = active.count
            active.append(wire)
            guard wire.configure(for: transfer.plan), curl_multi_add_handle(multi, wire.easy) == 0 else {
                return end(wire, .failure(.unsupported))
            }
            note(wire.deadline)
            if case .pulled(let source) = transfer.plan.content { source.start(onMore: wire.onMore) }
        }

        /// Resumes a paused transfer. One that libcurl has finished meanwhile ends with its real outcome: libcurl refuses to
        /// resume it, and its result waits to be read. So does the failure of a request's body: the server may have responded
        /// before it.
        private func resume(_ wire: CurlWire) {
            let transfer = wire.transfer
            endFinished()
            guard let transfer, wire.transfer === transfer else { return }
            if let failure = wire.bodyFailure { return end(wire, wire.outcome(failing: failure)) }
            let result = CurlResult(rawValue: wire.resume())
            // libcurl has detached the transfer from its connection, to finish it or to connect again: it goes on by itself.
            if result != .ok, result != .badArgument { end(wire, wire.outcome(of: result)) }
        }

        /// Wakes the reader of a streamed body when all that could be read has been.
        func noteUnread(_ pipe: CurlReceivePipe) { unread.append(pipe) }

        private func flush() {
            guard !unread.isEmpty else { return }
            for pipe in unread { pipe.flush() }
            unread.removeAll(keepingCapacity: true)
        }

        /// Whether another transfer is under way on the connection of a TLS session.
        func isUsed(_ session: UnsafeRawPointer, besides wire: CurlWire) -> Bool {
            active.contains { $0 !== wire && $0.uses(session) }
        }

        /// Looks at the time limits again at this time at the latest.
        func note(_ deadline: UInt64) { ownDeadline = min(ownDeadline, deadline) }

        /// Closes all connections and forgets the sessions of TLS: nothing of what was before is known to a server again.
        private func forgetConnections() {
            guard let newMulti = curl_multi_init() else { return isStopped = true }
            guard let newShare = curl_share_init() else {
                curl_multi_cleanup(newMulti)
                return isStopped = true
            }
            let (oldMulti, oldShare) = (multi, share)
            idle = []  // They hold on to the share.
            curl_multi_cleanup(oldMulti)
            curl_share_cleanup(oldShare)
            (multi, share, libcurlDeadline) = (newMulti, newShare, .max)
            if !prepare() { isStopped = true }
        }

        private func endAll(_ failure: TransportFailure) {
            while let wire = active.last { end(wire, .failure(failure)) }
        }
    }

    // MARK: Ends

    extension CurlLoop {
        private func endFinished() {
            var code: CInt = 0
            while let easy = lh_curl_next_finished(multi, &code) {
                guard let wire = CurlWire.carried(by: easy), let transfer = wire.transfer else { continue }
                let outcome = wire.outcome(of: CurlResult(rawValue: code))
                release(wire)
                done.append((transfer, outcome))
            }
            guard !done.isEmpty else { return }
            // The oldest first, and each is let go at once, so that most often its caller's thread frees what it allocated.
            if done.count > 1 { done.reverse() }
            pool.gather(at: now) {
                while let (transfer, outcome) = done.popLast() { transfer.finish(outcome) }
            }
        }

        /// Ends what is past its time, and finds out when to look again.
        private func endLate() {
            ownDeadline = .max
            for wire in active.reversed() {
                if wire.deadline <= now {
                    end(wire, wire.outcome(failing: wire.lateness))
                } else {
                    note(wire.deadline)
                }
            }
        }

        /// Takes a transfer from libcurl and answers it; its connection is closed unless all of it had been read.
        private func end(_ wire: CurlWire, _ outcome: CurlTransfer.Outcome) {
            let transfer = wire.transfer
            release(wire)
            transfer?.finish(outcome)
        }

        private func release(_ wire: CurlWire) {
            wire.noteFacts()
            curl_multi_remove_handle(multi, wire.easy)
            wire.end()
            let last = active.removeLast()
            if last !== wire {
                active[wire.place] = last
                last.place = wire.place
            }
            if active.isEmpty { ownDeadline = .max }
            if CurlQuirks.reusesHandles, idle.count < Self.idleHandles { idle.append(wire) }
        }
    }
#endif

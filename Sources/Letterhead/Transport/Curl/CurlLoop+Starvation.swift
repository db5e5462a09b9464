// SPDX-License-Identifier: MIT
#if os(Linux)
    /// The transfers that hold the connections that others wait for.
    struct ConnectionHolders {
        /// The numbers of responses with arriving bodies, and of requests without a response.
        var (reading, unanswered) = (0, 0)
        private var names: [String: Int] = [:]

        mutating func add(_ wire: CurlWire) {
            guard let request = wire.transfer?.request else { return }
            if wire.progress.hasHead { reading += 1 } else { unanswered += 1 }
            let route = request.observation?.route ?? request.path.route
            names[route.map { "\(request.method.printable) \($0)" } ?? request.outline, default: 0] += 1
        }

        /// The most frequent requests with their numbers, without secrets.
        var summary: [String] {
            names.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(10).map { "\($0.key) (\($0.value))" }
        }
    }

    extension CurlLoop {
        /// Returns the failure for a transfer that timed out while it waited for a connection, and records which
        /// transfers hold the connections.
        ///
        /// - Parameter known: the holders from earlier calls, because many transfers can fail at once.
        func starvation(of wire: CurlWire, _ known: inout [ObjectIdentifier: ConnectionHolders]) -> TransportFailure {
            let isObserved = wire.transfer?.request.observation != nil
            let isStarved = wire.deadline == wire.queueDeadline
            guard let lane = wire.lane, isObserved || isStarved else { return wire.lateness }
            let isOfOrigin = !queue.hasRoom(lane)
            let key = ObjectIdentifier(isOfOrigin ? lane : self)
            let holders = known[key] ?? holders(of: isOfOrigin ? lane : nil)
            known[key] = holders
            if isObserved {
                wire.transfer?.facts.note { details in
                    details.queued = .nanoseconds(now - wire.progress.lastActivity)
                    details.holders = holders.summary
                }
            }
            guard isStarved, let limit = configuration.queueTimeout else { return wire.lateness }
            let place = isOfOrigin ? "of this host" : "of all hosts"
            var parts: [String] = []
            switch holders.reading {
            case 0: break
            case 1: parts = ["1 response \(place) is still being read"]
            case let count: parts = ["\(count) responses \(place) are still being read"]
            }
            if holders.unanswered > 0 { parts.append("requests \(place) without a response: \(holders.unanswered)") }
            let setting = isOfOrigin ? "maximumConnectionsPerHost" : "maximumConnections"
            return TransportFailure(
                .timedOut,
                "no connection became free within \(limit): \(parts.joined(separator: ", ")) (read or drop the bodies "
                    + "of streamed responses, or raise \(setting) or queueTimeout)", mayHaveBeenSent: false)
        }

        /// - Parameter lane: an origin's lane, or nil for all.
        private func holders(of lane: ConnectionQueue<CurlWire>.Lane?) -> ConnectionHolders {
            var holders = ConnectionHolders()
            for wire in active
            where !wire.isWaiting && (lane.map { $0 === wire.lane } ?? (wire.lane?.isExclusive != false)) {
                holders.add(wire)
            }
            return holders
        }
    }
#endif

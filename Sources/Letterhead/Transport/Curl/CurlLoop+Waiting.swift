// SPDX-License-Identifier: MIT
#if os(Linux)
    /// The transfers that hold the connections that others wait for.
    struct ConnectionHolders {
        /// The numbers of responses with arriving bodies, and of requests without a response.
        var (reading, unanswered) = (0, 0)
        private var names: [String: Int] = [:]

        mutating func add(_ exchange: Exchange) {
            let request = exchange.request
            if exchange.progress.hasHead { reading += 1 } else { unanswered += 1 }
            let route = request.observation?.route ?? request.path.route
            names[route.map { "\(request.method.printable) \($0)" } ?? request.outline, default: 0] += 1
        }

        /// The most frequent requests with their numbers, without secrets.
        var summary: [String] {
            names.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(10).map { "\($0.key) (\($0.value))" }
        }
    }

    extension CurlLoop {
        /// Returns the failure for a transfer that timed out. If it waited for a connection, records which transfers hold
        /// the connections.
        ///
        /// - Parameter known: the holders from earlier calls, because many transfers can fail at once.
        func lateness(of exchange: Exchange, _ known: inout [ObjectIdentifier: ConnectionHolders]) -> TransportFailure {
            let isObserved = exchange.request.observation != nil
            let isStarved = exchange.deadline(on: self) == exchange.queueDeadline(on: self)
            guard let lane = exchange.lane, exchange.isWaiting || exchange.isHeld, isObserved || isStarved else {
                return exchange.lateness(on: self)
            }
            let isOfOrigin = exchange.isHeld || !queue.hasRoom(lane)
            let key = ObjectIdentifier(isOfOrigin ? lane : self)
            let holders = known[key] ?? holders(of: isOfOrigin ? lane : nil)
            known[key] = holders
            if isObserved {
                exchange.facts.note { details in
                    details.queued = .nanoseconds(now - exchange.progress.lastActivity)
                    details.holders = holders.summary
                }
            }
            guard isStarved else { return exchange.lateness(on: self) }
            let limit = Duration.nanoseconds(exchange.queueLimit(on: self))
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
                    + "of streamed responses, or raise \(setting) or queueTimeout)", mayHaveBeenSent: exchange.wasSent)
        }

        /// Returns the transfers that hold connections.
        ///
        /// - Parameter lane: the lane of an origin, or nil for all origins.
        private func holders(of lane: ConnectionQueue<Exchange>.Lane?) -> ConnectionHolders {
            var holders = ConnectionHolders()
            for exchange in active where lane == nil || lane === exchange.lane {
                if !exchange.isWaiting, !exchange.isHeld { holders.add(exchange) }
            }
            return holders
        }
    }

    // MARK: Transfers that wait for a connection of a different one

    extension CurlLoop {
        /// Records whether a connection to an origin carries only one transfer at a time.
        func note(isExclusive: Bool, in lane: ConnectionQueue<Exchange>.Lane) {
            if isExclusive, !lane.isKnownExclusive { separated.append(lane) }
            queue.note(isExclusive: isExclusive, in: lane)
        }

        /// Lets the transfers that waited for a connection to their origin open their own. Since 8.10, libcurl lets
        /// them wait for the first response on it.
        ///
        /// A transfer that libcurl sends again continues to wait, because its body may not begin anew.
        func separateFollowers(in lane: ConnectionQueue<Exchange>.Lane) {
            guard lane.isKnownExclusive, lane.underWay > 1 else { return }
            for exchange in active where exchange.lane === lane && !exchange.isWaiting && !exchange.wasSent {
                guard let carrier = exchange.carrier, carrier.settings.waits, carrier.isFollowing else { continue }
                rejoin(exchange, on: carrier)
            }
        }

        /// Lets libcurl begin a transfer anew.
        func rejoin(_ exchange: Exchange, on carrier: CurlCarrier) {
            release(carrier, isReusable: false)
            join(exchange, on: carrier)
        }

        /// Ends the transfers that waited for the first connection to their origin when it has failed. libcurl would
        /// let each of them try alone while the others wait, so that forty would fail after forty connect timeouts.
        ///
        /// A transfer with a longer connect timeout tries again. So do all while the origin has a different connection,
        /// because they may wait for a stream on it.
        func endFollowers(
            of first: Exchange, in lane: ConnectionQueue<Exchange>.Lane, _ failure: TransportFailure
        ) {
            guard first.plan.mayShareConnections, lane.underWay > 0 else { return }
            let others = active.filter { $0.lane === lane && !$0.isWaiting && !$0.progress.isConnecting }
            guard others.allSatisfy({ $0.carrier?.isFollowing == true }) else { return }
            for exchange in others where exchange.plan.connectTimeout <= first.plan.connectTimeout {
                fail(exchange, failure)
            }
        }
    }
#endif

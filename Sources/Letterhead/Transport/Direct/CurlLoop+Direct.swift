// SPDX-License-Identifier: MIT
#if os(Linux)
    import LetterheadFoundation

    // The direct connections: how they are opened, kept for the next request, and closed.

    extension CurlLoop {
        /// Begins a transfer on the connection of the origin that was used last, or on a new one.
        func beginDirectly(_ exchange: Exchange, in lane: ConnectionQueue<Exchange>.Lane) {
            while let connection = lane.idle.popLast() {
                idleCount -= 1
                if connection.isUsable() { return connection.begin(exchange) }
                close(connection)
            }
            join(exchange)
        }

        /// Begins a transfer on the connection that its carrier has opened.
        ///
        /// Without TLS, the connection has its own descriptor for the socket, and libcurl closes the other one. Over
        /// TLS, it keeps the carrier, which leaves the multi handle when the connection is closed.
        func useConnection(of carrier: CurlCarrier, for exchange: Exchange) {
            let isSecure = exchange.plan.isSecure
            let (opening, socket) = (carrier.opening, isSecure ? carrier.socket : carrier.takeSocket())
            let descriptor = socket ?? Self.noSocket
            exchange.carrier = nil
            if isSecure, descriptor >= 0 { carrier.end() } else { release(carrier) }
            guard descriptor >= 0, let lane = exchange.lane else {
                // libcurl takes a new connection for dead if TLS has already received something on it.
                if isSecure, !exchange.progress.isReopening {
                    exchange.progress.isReopening = true
                    return join(exchange)
                }
                let closed = CurlResult.couldNotConnect.failure(reason: "", wasSent: false)
                return fail(exchange, isSecure ? closed : .exhausted)
            }
            let connection = DirectConnection(descriptor, isSecure ? carrier : nil, lane, opening, on: self)
            while connections.count <= Int(descriptor) { connections.append(nil) }
            connections[Int(descriptor)] = connection
            if !isSecure { noteDirectConnections(1) }
            connection.begin(exchange)
        }

        /// Keeps a connection for the next request to its origin, or closes it.
        func keepOrClose(_ connection: DirectConnection) {
            guard connection.isReusable, now < connection.expiry else { return close(connection) }
            connection.lane.idle.append(connection)
            idleCount += 1
            idleDeadline = min(idleDeadline, connection.expiry)
        }

        func close(_ connection: DirectConnection) {
            guard connection.isOpen else { return }
            if let index = connection.lane.idle.lastIndex(where: { $0 === connection }) {
                connection.lane.idle.remove(at: index)
                idleCount -= 1
            }
            connections[Int(connection.descriptor)] = nil
            connection.close()
            if let carrier = connection.carrier { release(carrier) } else { noteDirectConnections(-1) }
            queue.removeIfUnused(connection.lane)
        }

        /// The direct connection with a socket.
        func connection(at socket: CInt) -> DirectConnection? {
            connections.indices.contains(Int(socket)) ? connections[Int(socket)] : nil
        }

        /// Closes the idle connections that are too old, and determines when the next one will be.
        func closeExpired() {
            for connection in idleConnections where connection.expiry <= now { close(connection) }
            idleDeadline = idleConnections.reduce(.max) { min($0, $1.expiry) }
        }

        /// Closes the connections that have been idle longest until each transfer in progress may have a socket, or
        /// none is idle. A transfer has no socket until the name of its host is resolved, so transfers are counted.
        func makeRoom() {
            while idleCount > 0, idleCount + queue.underWay + queue.sharedLanes > configuration.maximumConnections,
                let oldest = idleConnections.min(by: { $0.idleSince < $1.idleSince })
            {
                close(oldest)
            }
        }

        func closeIdleConnections() {
            for connection in idleConnections { close(connection) }
        }

        private var idleConnections: [DirectConnection] {
            connections.compactMap { connection in connection?.exchange == nil ? connection : nil }
        }

        /// Returns when a new connection is used for the last time. Connections that are opened together end at
        /// different times, in the last tenth of the age, so that they aren't all opened again together.
        func lastUseOfNewConnection() -> UInt64 {
            guard let age = configuration.maximumConnectionAge?.wholeNanoseconds else { return .max }
            // The multiples of the golden ratio are spread evenly.
            openedCount &+= 0x9E37_79B9_7F4A_7C15
            return now.addingUnlessOver(age - age / 10_240 * (openedCount >> 54))
        }
    }
#endif

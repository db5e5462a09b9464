// SPDX-License-Identifier: MIT
extension HTTPRequest {
    /// Records the connection events, at the times that the transport measured.
    ///
    /// - Parameter facts: the facts about a transfer that has failed, or that has at least a response head.
    /// - Returns: whether a connection was recorded. A cancelled transfer may have no connection, or may not know it
    ///   yet.
    @discardableResult
    func record(_ facts: TransportFacts) -> Bool {
        guard let observation, let exchange = context.observed?.exchange else { return false }
        let (metrics, details) = (facts.metrics, facts.details)
        let step = Step(
            observation: observation, number: exchange.number, start: exchange.start, origin: origin)
        step.recordQueue(details)
        guard metrics.total > .zero || metrics.firstByte > .zero || metrics.remoteAddress != nil else { return false }
        if metrics.isReusedConnection {
            step.record(.connectionReused, at: details.queued) { $0.describe(metrics, details, origin) }
        } else {
            step.recordConnecting(metrics, details)
        }
        let isConnected = metrics.isReusedConnection || metrics.connect > .zero
        guard metrics.bytesSent > 0 else { return isConnected }
        let connected = max(metrics.secureConnect, metrics.connect, details.queued)
        step.record(.requestSent, at: max(details.sent, connected)) { $0[.wireBytes] = metrics.bytesSent }
        for lines in details.interim {
            // A malformed interim response isn't recorded here. It causes the load to fail.
            guard let head = try? ResponseHead(lines) else { continue }
            step.record(.responseInterim, at: max(details.sent, connected)) { event in
                event[.status] = head.status.code
                event[.headers] = head.headers.map(redaction.text(of:))
            }
        }
        return isConnected
    }

    /// Records that the connection was closed, because the exchange failed.
    func recordClosing(_ facts: TransportFacts, after error: HTTPError) {
        guard facts.details.isClosed else { return }
        record(.connectionClosed) { event in
            event[.exchange] = context.observed?.exchange?.number
            event[.address] = facts.metrics.remoteAddress
            event[.reason] = "the exchange failed"
            event[.errorType] = error.code.rawValue
        }
    }

    /// The events of one exchange, with times relative to its start.
    private struct Step {
        let observation: Observation
        let number: Int
        let start: Duration
        let origin: HTTPOrigin?

        func record(_ name: HTTPEvent.Name, at time: Duration, _ facts: (inout HTTPEvent) -> Void = { _ in }) {
            observation.record(name, at: start + time) { event in
                event[.exchange] = number
                facts(&event)
            }
        }

        func recordQueue(_ details: TransportFacts.Details) {
            guard details.queued > .milliseconds(1) else { return }
            record(.queueEntered, at: .zero) { $0[.queue] = "connection" }
            record(.queueLeft, at: details.queued) { event in
                event[.queue] = "connection"
                event[.duration] = details.queued
                if !details.holders.isEmpty { event[.holders] = details.holders }
            }
        }

        func recordConnecting(_ metrics: HTTPResponse.Metrics, _ details: TransportFacts.Details) {
            guard metrics.nameLookup > .zero || metrics.connect > .zero else { return }
            recordPhase(.lookupStart, .lookupEnd, from: details.queued, to: metrics.nameLookup)
            recordPhase(.connectStart, .connectEnd, from: metrics.nameLookup, to: metrics.connect) {
                $0.describe(metrics, details, origin)
            }
            if metrics.secureConnect > .zero {
                recordPhase(.tlsStart, .tlsEnd, from: metrics.connect, to: metrics.secureConnect) { event in
                    event[.tlsVersion] = details.tlsVersion
                    event[.tlsCipher] = details.tlsCipher
                }
            }
            guard metrics.connect > .zero else { return }
            record(.connectionOpened, at: max(metrics.connect, metrics.secureConnect)) {
                $0.describe(metrics, details, origin)
            }
        }

        private func recordPhase(
            _ startName: HTTPEvent.Name, _ endName: HTTPEvent.Name, from begin: Duration, to end: Duration,
            _ facts: (inout HTTPEvent) -> Void = { _ in }
        ) {
            guard end > .zero else { return }
            record(startName, at: begin)
            record(endName, at: end) { event in
                event[.duration] = max(end - begin, .zero)
                facts(&event)
            }
        }
    }
}

extension HTTPEvent {
    fileprivate mutating func describe(
        _ metrics: HTTPResponse.Metrics, _ details: TransportFacts.Details, _ origin: HTTPOrigin?
    ) {
        if let origin { describe(origin) }
        self[.address] = metrics.remoteAddress
        self[.httpVersion] = metrics.httpVersion
        self[.tlsVersion] = details.tlsVersion
    }
}

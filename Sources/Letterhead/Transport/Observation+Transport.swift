extension Observation {
    /// Records the events of the connection of the last exchange, at the times that the transport has measured.
    ///
    /// - Parameter facts: the facts of the transfer, of which at least the head has arrived, or which has failed.
    func record(_ facts: TransportFacts) {
        let (metrics, details) = (facts.metrics, facts.details)
        guard metrics.total > .zero || metrics.firstByte > .zero || metrics.remoteAddress != nil else { return }
        let step = Step(observation: self, number: exchange.number, start: exchange.start)
        step.recordQueue(details)
        if metrics.isReusedConnection {
            step.record("connection.reused", at: details.queued) { $0.describe(metrics, details) }
        } else {
            step.recordConnecting(metrics, details)
        }
        guard metrics.bytesSent > 0 else { return }
        let connected = max(metrics.secureConnect, metrics.connect, details.queued)
        step.record("request.sent", at: max(details.sent, connected)) { $0[.wireBytes] = metrics.bytesSent }
        for status in details.interim {
            step.record("response.interim", at: max(details.sent, connected)) { $0[.status] = status }
        }
    }

    /// The events of one exchange, whose times are relative to its start.
    private struct Step {
        let observation: Observation
        let number: Int
        let start: Duration

        func record(_ name: String, at time: Duration, _ facts: (inout HTTPEvent) -> Void = { _ in }) {
            observation.record(name, at: start + time) { event in
                event[.exchange] = number
                facts(&event)
            }
        }

        func recordQueue(_ details: TransportFacts.Details) {
            guard details.queued > .milliseconds(1) else { return }
            record("queue.entered", at: .zero) { $0[.queue] = "connection" }
            record("queue.left", at: details.queued) { event in
                event[.queue] = "connection"
                event[.duration] = details.queued
            }
        }

        func recordConnecting(_ metrics: TransportMetrics, _ details: TransportFacts.Details) {
            guard metrics.nameLookup > .zero || metrics.connect > .zero else { return }
            recordPhase("lookup", from: details.queued, to: metrics.nameLookup)
            recordPhase("connect", from: metrics.nameLookup, to: metrics.connect) { $0.describe(metrics, details) }
            if metrics.secureConnect > .zero {
                recordPhase("tls", from: metrics.connect, to: metrics.secureConnect) { event in
                    event[.tlsVersion] = details.tlsVersion
                    event[.tlsCipher] = details.tlsCipher
                }
            }
            guard metrics.connect > .zero else { return }
            record("connection.opened", at: max(metrics.connect, metrics.secureConnect)) {
                $0.describe(metrics, details)
            }
        }

        private func recordPhase(
            _ name: String, from begin: Duration, to end: Duration, _ facts: (inout HTTPEvent) -> Void = { _ in }
        ) {
            guard end > .zero else { return }
            record("\(name).start", at: begin)
            record("\(name).end", at: end) { event in
                event[.duration] = max(end - begin, .zero)
                facts(&event)
            }
        }
    }
}

extension HTTPEvent {
    fileprivate mutating func describe(_ metrics: TransportMetrics, _ details: TransportFacts.Details) {
        self[.address] = metrics.remoteAddress
        self[.httpVersion] = metrics.httpVersion
        self[.tlsVersion] = details.tlsVersion
    }
}

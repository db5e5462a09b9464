extension HTTPLoader {
    /// Sends an attempt. If the load is observed, it records the start and the end.
    @inline(__always)
    func attempt(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        guard let observation = request.observation else { return try await load(request) }
        return try await attempt(request, in: observation)
    }

    private func attempt(
        _ request: HTTPRequest, in observation: Observation
    ) async throws(HTTPError) -> HTTPResponse {
        guard observation.beginAttempt(request) else { return try await load(request) }
        let result = await result(of: request)
        observation.endAttempt(result)
        return try result.get()
    }

    /// Sends a request on behalf of another one: it ends at a reset of the client of that request, and is observed as
    /// its child.
    func load(
        _ request: HTTPRequest, as kind: String, for original: HTTPRequest
    ) async throws(HTTPError) -> HTTPResponse {
        var request = request
        request.context.generation = original.context.generation
        guard let observation = original.observation?.child(kind) else { return try await load(request) }
        request.observation = observation
        observation.begin(request)
        do throws(HTTPError) {
            let response = try await load(request)
            response.body.onEnd { [head = response.withoutBody] in observation.end(head, $0) }
            return response
        } catch {
            observation.end(error)
            throw error
        }
    }
}

extension HTTPResponse {
    var withoutBody: HTTPResponse {
        var head = self
        head.body = HTTPResponseBody()
        return head
    }
}

extension Observation {
    /// Records a step of decoding a type.
    func recordDecoding(_ name: HTTPEvent.Name, _ type: Any.Type, _ error: HTTPError? = nil) {
        record(name) { event in
            event[.type] = String(describing: type)
            if let error { event.describe(error) }
        }
    }

    /// Records that the request waits in a queue.
    func enterQueue(_ queue: String) -> ObservedWait {
        record(.queueEntered) { $0[.queue] = queue }
        return ObservedWait(observation: self, queue: queue)
    }

    /// Records that the request waits for credentials.
    func needCredentials(isRefused: Bool) -> ObservedWait {
        record(.credentialsNeeded) { $0[.reason] = isRefused ? "refused" : "missing or expired" }
        return ObservedWait(observation: self, queue: nil)
    }
}

/// A wait that has begun.
struct ObservedWait: Sendable {
    let observation: Observation
    let queue: String?
    private let start: Duration

    init(observation: Observation, queue: String?) {
        (self.observation, self.queue, start) = (observation, queue, observation.hub.now)
    }

    /// Records that the request has left the queue.
    func leave() { end(.queueLeft) }

    func end(_ name: HTTPEvent.Name) {
        observation.record(name) { event in
            event[.queue] = queue
            event[.duration] = observation.hub.now - start
        }
    }
}

extension HTTPResponse {
    /// Sets the facts of `connection.closed`.
    func describeClosing(_ event: inout HTTPEvent, after failure: (any Error)?) {
        event[.address] = metrics.remoteAddress
        event[.reason] = failure == nil ? closingReason : "the exchange failed"
        if let failure { event[.errorType] = (failure as? HTTPError)?.code.rawValue ?? "\(type(of: failure))" }
    }

    /// Whether the transport knows that it has closed the connection of the response.
    var isConnectionClosed: Bool { facts?.details.isClosed == true }

    private var closingReason: String {
        if ASCII.members(of: headers.values(for: .connection)).map(ASCII.keyword).contains("close") {
            return "the server has requested it (Connection: close)"
        }
        if metrics.httpVersion == "HTTP/1.0" { return "HTTP/1.0 without keep-alive" }
        let endsBody = facts?.details.endsBody == true
        return endsBody ? "it marks the end of the body" : "the transport did not keep it"
    }
}

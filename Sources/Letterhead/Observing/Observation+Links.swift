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

    /// Sends a request on behalf of another load. If that load is observed, this one is observed as its child.
    func load(
        _ request: HTTPRequest, as kind: String, for parent: Observation?
    ) async throws(HTTPError) -> HTTPResponse {
        guard let observation = parent?.child(kind) else { return try await load(request) }
        var request = request
        request.observation = observation
        observation.begin(request)
        do throws(HTTPError) {
            return try await load(request).ending(observation)
        } catch {
            observation.end(error)
            throw error
        }
    }
}

extension HTTPResponse {
    /// Returns the response, and ends the observation: immediately, or when a streamed body has been read or dropped.
    func ending(_ observation: Observation?) -> HTTPResponse {
        guard let observation else { return self }
        guard body.buffered == nil else {
            observation.end(self)
            return self
        }
        var response = self
        response.body = body.passing { next in
            do {
                return try await next()
            } catch {
                observation.end(error)
                throw error
            }
        } end: { [head = withoutBody] in
            observation.end(head)
        }
        return response
    }

    private var withoutBody: HTTPResponse {
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

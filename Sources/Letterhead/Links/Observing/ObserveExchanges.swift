// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Synchronization

/// Records each exchange of an observed load with the transport, and adds the trace headers.
///
/// A client with observers or tracing places this link directly above the transport, so that observers see what is sent
/// and what arrives.
struct ObserveExchanges: LoaderLink {
    let tracing: TraceContextPropagation?

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard let observation = request.observation else { return try await next.load(request) }
        if let rule = tracing?.brokenRule { throw HTTPError(.invalidRequest, request: request, message: rule) }
        var request = request
        let context = tracing?.inject(observation.trace, into: &request)
        let begun = observation.beginExchange(request) { event in
            event[.timeLeft] = request.timeLeft
            event[.traceID] = context?.traceID
            event[.spanID] = context?.spanID
        }
        request.context.observed?.exchange = begun
        let exchange = ObservedExchange(observation, begun, request, context)
        let result = await next.result(of: request)
        observation.answerExchange()
        switch result {
        case .success(let response): return exchange.observing(response)
        case .failure(let error):
            exchange.fail(error)
            throw error
        }
    }
}

extension ObserveExchanges: CustomStringConvertible {
    var description: String { tracing == nil ? "Observe" : "Observe and trace" }
}

/// Records one exchange with the transport. The closures of a streamed body record to it until the body ends.
private final class ObservedExchange: Sendable {
    private let observation: Observation
    private let number: Int
    private let start: Duration
    private let request: HTTPRequest
    private let context: TraceContext?
    private let bytes = Atomic<Int>(0)

    init(
        _ observation: Observation, _ exchange: Observation.Exchange, _ request: HTTPRequest, _ context: TraceContext?
    ) {
        (self.observation, number, start) = (observation, exchange.number, exchange.start)
        (self.request, self.context) = (request, context)
    }

    func fail(_ error: HTTPError) {
        record(.exchangeFailed) { event in
            event.describe(self.request)
            event.describe(error)
            self.describe(&event)
            event[.status] = error.response?.status.code
        }
    }

    func observing(_ response: HTTPResponse) -> HTTPResponse {
        let firstByte = response.metrics.firstByte
        record(.responseHead, at: firstByte > .zero ? start + firstByte : nil, .response(response)) { event in
            event[.status] = response.status.code
            event[.httpVersion] = response.metrics.httpVersion
            event[.serverTiming] = response.headers["Server-Timing"].map(Redaction.visible)
            event[.deprecation] = response.headers["Deprecation"].map(Redaction.visible)
            event[.sunset] = response.headers["Sunset"].map(Redaction.visible)
        }
        if let data = response.body.buffered {
            end(response, .complete, count: data.count)
            return response
        }
        return response.observingBody { chunk in
            self.bytes.wrappingAdd(chunk.count, ordering: .relaxed)
            self.record(.bodyPiece, .piece(chunk)) { $0[.bytes] = chunk.count }
        } end: { [head = response.withoutBody] end in
            self.end(head, end, count: self.bytes.load(ordering: .relaxed))
        }
    }

    private func end(_ response: HTTPResponse, _ end: HTTPResponseBody.End, count: Int) {
        let isComplete = if case .complete = end { true } else { false }
        let failure: (any Error)? = if case .failed(let error) = end { error } else { nil }
        let metrics = response.metrics
        record(.bodyEnd) { event in
            event[.bytes] = count
            event[.wireBytes] = metrics.bytesReceived == 0 ? nil : metrics.bytesReceived
            event[.isComplete] = isComplete
        }
        if !response.trailers.isEmpty {
            record(.responseTrailers) { $0[.names] = response.trailers.map(\.name.rawValue) }
        }
        if response.isConnectionClosed {
            record(.connectionClosed) { response.describeClosing(&$0, after: failure) }
        }
        record(failure == nil ? .exchangeEnd : .exchangeFailed) { event in
            event.describe(self.request)
            self.describe(&event)
            event[.status] = response.status.code
            if response.status.code >= 400 { event[.errorType] = "\(response.status.code)" }
            if let failure { event.describe(failure) }
            event[.httpVersion] = metrics.httpVersion
            event[.address] = metrics.remoteAddress
            event[.bytes] = count
        }
    }

    private func describe(_ event: inout HTTPEvent) {
        event[.resendCount] = number - 1
        event[.duration] = observation.hub.now - start
        event[.traceID] = context?.traceID
        event[.spanID] = context?.spanID
    }

    private func record(
        _ name: HTTPEvent.Name, at time: Duration? = nil, _ message: ObservedMessage? = nil,
        _ facts: (inout HTTPEvent) -> Void
    ) {
        observation.record(name, at: time, message: message) { event in
            event[.exchange] = number
            facts(&event)
        }
    }
}

extension HTTPResponse {
    /// Returns the response with a body that calls `piece` for each piece and `end` once.
    func observingBody(
        _ piece: @escaping @Sendable (Data) -> Void, end: @escaping @Sendable (HTTPResponseBody.End) -> Void
    ) -> HTTPResponse {
        var response = self
        response.body = body.map(length: body.length) { chunk in
            piece(chunk)
            return chunk
        }
        response.body.onEnd(end)
        return response
    }
}

extension HTTPLoader {
    /// Sends an attempt. If the load is observed, its start and end are recorded.
    @inline(__always)
    func loadAttempt(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let observation = request.observation.flatMap { $0.beginAttempt(request) ? $0 : nil }
        let result = await result(of: request)
        observation?.endAttempt(result)
        return try result.get()
    }

    /// Sends a request that a link creates for a different request, such as a request for a token.
    ///
    /// Resetting the client of the original ends the new request, which has the same ``HTTPRequest/homeOrigin``.
    /// Observers see it as a separate load, a child of the original load. A request that is already observed as part of
    /// a load stays part of that load.
    ///
    /// - Parameters:
    ///   - request: the request to send.
    ///   - original: the request that the new one is sent for.
    ///   - kind: the kind of load that observers receive, such as `refresh`.
    public func load(
        _ request: HTTPRequest, onBehalfOf original: HTTPRequest, as kind: String
    ) async throws(HTTPError) -> HTTPResponse {
        var request = request
        request.context.generation = request.context.generation ?? original.context.generation
        request.homeOrigin = original.homeOrigin
        guard let parent = original.observation, request.observation == nil || request.observation === parent else {
            return try await load(request)
        }
        let observation = parent.child(kind)
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

extension Observation {
    func recordDecoding(_ name: HTTPEvent.Name, _ type: Any.Type, _ error: HTTPError? = nil) {
        record(name) { event in
            event[.type] = String(describing: type)
            if let error { event.describe(error) }
        }
    }

    func enterQueue(_ queue: String) -> ObservedWait {
        record(.queueEntered) { $0[.queue] = queue }
        return ObservedWait(observation: self, queue: queue)
    }

    func needCredentials(isRefused: Bool) -> ObservedWait {
        record(.credentialsNeeded) { $0[.reason] = isRefused ? "refused" : "missing or expired" }
        return ObservedWait(observation: self, queue: nil)
    }
}

struct ObservedWait: Sendable {
    let observation: Observation
    let queue: String?
    private let start: Duration

    init(observation: Observation, queue: String?) {
        (self.observation, self.queue, start) = (observation, queue, observation.hub.now)
    }

    func leave() { end(.queueLeft) }

    func end(_ name: HTTPEvent.Name) {
        observation.record(name) { event in
            event[.queue] = queue
            event[.duration] = observation.hub.now - start
        }
    }
}

extension HTTPResponse {
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
        return endsBody ? "its end marks the end of the body" : "the transport did not keep it open"
    }
}

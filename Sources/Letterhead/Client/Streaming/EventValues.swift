// SPDX-License-Identifier: MIT
import LetterheadFoundation

extension HTTPClient {
    /// Sends a template and decodes the data of its response's server-sent events as they arrive.
    ///
    /// ```swift
    /// for try await delta in client.events(of: Completion(prompt: "…"), as: Delta.self, endingWith: "[DONE]") {
    ///     print(delta.text)
    /// }
    /// ```
    ///
    /// The template's decoder, or else the client's, decodes each value. Events without data, events named `ping`, and
    /// comments are skipped. An event named `error` ends the sequence with `.reportedFailure`. Its data is the body of
    /// the error's response, so ``HTTPError/failure(of:)`` returns it as the template's ``RequestTemplate/Failure``.
    ///
    /// If the request may be retried, an `error` event before the first value is retried like a status that
    /// ``DefaultValidator`` knows. The waits, the maximum and the conditions of ``Retry`` apply. A request with a method
    /// that isn't idempotent needs ``RequestTemplate/idempotent(key:)`` or ``HTTPRetryStrategy/retryingRefusals()``. In
    /// this case, the client looks at up to 64 KiB before it accepts the response.
    ///
    /// - Parameters:
    ///   - template: the request. Its ``RequestTemplate/decode(_:)`` is not called.
    ///   - type: the values' type. If an event's data cannot be decoded, the error is `.cannotDecodeResponse`, after
    ///     the earlier events' values. Its message contains the event's name.
    ///   - names: the events to decode. Others are skipped, except `error`. An event without a name is a `message`.
    ///     Default: nil (all events except `error` and `ping`).
    ///   - sentinel: the data or the name of the event that ends the stream. If you set it, a stream that ends without
    ///     it is incomplete and `.invalidResponse`. Default: nil (the stream ends with its connection).
    ///   - reconnection: whether to reconnect after the connection has ended. Default: never.
    ///   - limit: the maximum number of bytes in a line and in an event's data. A larger event is `.responseTooLarge`.
    ///     Default: 16 MiB.
    public func events<Template: RequestTemplate, Value: Decodable & Sendable>(
        of template: Template, as type: Value.Type, named names: Set<String>? = nil,
        endingWith sentinel: String? = nil, reconnecting reconnection: Reconnection = .never, limit: Int = 16 << 20
    ) -> some AsyncSequence<Value, any Error> & Sendable {
        let choice = EventChoice(names: names, sentinel: sentinel)
        let opening = EventStreamTemplate(
            base: template,
            validators: [
                FirstValue(choice: choice, limit: limit),
                ClosureValidator { response, _ in
                    response.reportsFailure ? .retry(HTTPRetryStrategy.exponential.asFallback()) : .nextValidator
                },
            ])
        let connections = StreamConnections(
            client: self, reconnection: reconnection, progress: template.options.progressUpdates,
            first: opening.connection, restart: nil)
        return EventValues<Value>(
            events: EventSequence(source: .connections(connections), limit: limit), choice: choice)
    }
}

private struct EventChoice: Sendable {
    enum Role { case value, failure, end, skipped }

    let names: Set<String>?
    let sentinel: String?

    func role(of event: ServerSentEvent) -> Role {
        if let sentinel, event.data.isSame(as: sentinel) || event.event.isSame(as: sentinel) { return .end }
        let isChosen = names?.contains(event.event)
        if event.event.isSame(as: "error"), isChosen != true { return .failure }
        return isChosen ?? !event.event.isSame(as: "ping") && !event.data.isEmpty ? .value : .skipped
    }
}

/// Looks for an `error` event before the first value while the attempt can still be retried. It changes nothing if no
/// retry is allowed.
private struct FirstValue: HTTPValidator {
    private static let longestBeginning = 64 << 10

    let choice: EventChoice
    let limit: Int

    func validate(response: HTTPResponse, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
        var parser = EventStreamParser(limit: limit)
        guard request.attemptNumber != nil, request.accepts(response.status), (try? parser.begin(response)) != nil
        else { return .nextValidator }
        var (response, count, role) = (response, 0, EventChoice.Role.skipped)
        response.body = await response.body.seen { piece in
            count += piece.count
            parser.append(piece)
            // The reader of the stream throws a fault.
            while role == .skipped, let event = try? parser.next() { role = choice.role(of: event) }
            return role != .skipped || count >= Self.longestBeginning
        }
        response.reportsFailure = role == .failure
        return .nextValidatorWithResponse(response)
    }
}

private struct EventValues<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    let events: EventSequence
    let choice: EventChoice

    func makeAsyncIterator() -> Iterator { Iterator(events: events.makeAsyncIterator(), choice: choice) }

    struct Iterator: AsyncIteratorProtocol {
        /// Nil after the end.
        var events: EventSequence.Iterator?
        let choice: EventChoice

        mutating func next(isolation actor: (any Actor)?) async throws -> Value? { try await next() }

        mutating func next() async throws -> Value? {
            do {
                while let event = try await events?.next() {
                    switch choice.role(of: event) {
                    case .value: return try event.decode(Value.self)
                    case .failure: throw event.failure
                    case .end: events = nil
                    case .skipped: break
                    }
                }
                guard let ended = events.take(), let sentinel = choice.sentinel else { return nil }
                throw ended.stream.error(
                    .invalidResponse, "the event stream ended without its final event \"\(sentinel)\"")
            } catch {
                events = nil
                throw error
            }
        }
    }
}

extension ServerSentEvent {
    /// The error of an `error` event.
    fileprivate var failure: HTTPError {
        var response = origin?.response ?? HTTPResponse(request: HTTPRequest(), status: .ok)
        let isJSON = data.utf8.first { $0 > 0x20 }.map { "{[\"".utf8.contains($0) } == true
        response.headers[.contentType] = isJSON ? "application/json" : "text/plain"
        response.body = HTTPResponseBody(Data(data.utf8))
        response.reportsFailure = true
        return HTTPError(
            .reportedFailure, request: response.request, response: response,
            message: "the event stream ended with an error event")
    }
}

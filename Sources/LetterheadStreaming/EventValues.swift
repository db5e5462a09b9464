// SPDX-License-Identifier: MIT
public import Letterhead
import LetterheadFoundation

extension HTTPClient {
    /// Sends a template, and decodes the data in server-sent events as they arrive.
    ///
    /// ```swift
    /// for try await delta in client.events(of: Completion(prompt: "…"), as: Delta.self, endingWith: "[DONE]") {
    ///     print(delta.text)
    /// }
    /// ```
    ///
    /// The template decoder decodes each value, or else the client decoder. Events without data, events named `ping`,
    /// and comments are skipped.
    ///
    /// ## Events that report a failure
    ///
    /// An event that reports a failure ends the sequence with `.reportedFailure`. The response body in the error is the
    /// event data, so `HTTPError.failure(of:)` decodes it as `RequestTemplate.Failure`. These events report a failure:
    ///
    /// - An event named `error`, unless `names` contains it.
    /// - An event of any name that isn't a value, and whose data decodes as `RequestTemplate.Failure`, such as
    ///   `data: {"error": …}`.
    ///
    /// The second rule needs types that don't decode from `{}`, because such a type would decode from any object. If
    /// the failure type does, the rule doesn't apply. If the value type does, the failure type is tried first.
    ///
    /// If the request may be retried, a failure before the first value is retried like a status that `DefaultValidator`
    /// refuses. The waits, the maximum and the conditions of `Retry` apply. A request with a method that isn't
    /// idempotent needs `RequestTemplate.idempotent(key:)` or `HTTPRetryStrategy.retryingRefusals()`. To recognize such
    /// a failure, the client reads up to 64 KiB before it returns the response.
    ///
    /// - Parameters:
    ///   - template: the request. Its `RequestTemplate.decode(_:)` is not called.
    ///   - type: the value type.
    ///   - names: the event names to decode. All others are skipped, except for failures. An event without a name is a
    ///     `message`. Default: nil (all events except for `error` and `ping`).
    ///   - sentinel: the data or the name of the event that ends the stream. If you pass it, a stream that ends without
    ///     this event is incomplete and throws `.invalidResponse`. Default: nil (the stream ends with its connection).
    ///   - undecodable: what happens if event data cannot be decoded. Default: the values of earlier events are
    ///     delivered, and then `.cannotDecodeResponse` is thrown. Its message contains the event name.
    ///   - types: the content types that are read as an event stream. Default: `text/event-stream`.
    ///   - reconnection: whether to reconnect after the connection has ended. Default: never.
    ///   - limit: the maximum number of bytes in a line and in event data. A larger event throws `.responseTooLarge`.
    ///     Default: 16 MiB.
    public func events<Template: RequestTemplate, Value: Decodable & Sendable>(
        of template: Template, as type: Value.Type, named names: Set<String>? = nil,
        endingWith sentinel: String? = nil, undecodable: ServerSentEvent.Undecodable = .fail,
        contentTypes types: ServerSentEvent.ContentTypes = .eventStream,
        reconnecting reconnection: Reconnection = .never, limit: Int = 16 << 20
    ) -> some AsyncSequence<Value, any Error> & Sendable {
        let choice = EventChoice<Value, Template.Failure>(names: names, sentinel: sentinel)
        let opening = EventStreamTemplate(
            base: template,
            validators: [
                FirstValue(choice: choice, parser: EventStreamParser(types, limit: limit)),
                ClosureValidator { response, _ in
                    response.reportsFailure ? .retry(HTTPRetryStrategy.exponential.asFallback()) : .nextValidator
                },
            ])
        let connections = StreamConnections(
            client: self, reconnection: reconnection, options: template.options,
            first: opening.connection, restart: nil)
        return EventValues(
            events: EventSequence(source: .connections(connections), types: types, limit: limit), choice: choice,
            undecodable: undecodable)
    }
}

private struct EventChoice<Value: Decodable & Sendable, Failure: Decodable & Sendable>: Sendable {
    enum Reading {
        case value(Value)
        case undecodable(HTTPError)
        case failure, end, skipped
    }

    let names: Set<String>?
    let sentinel: String?
    /// Whether events can report failures, and whether an event that decodes as a value may still be a failure. Nil
    /// before the first event, because only a response has a decoder.
    private var rules: (hasFailures: Bool, isVague: Bool)?

    init(names: Set<String>?, sentinel: String?) { (self.names, self.sentinel) = (names, sentinel) }

    mutating func reading(of event: ServerSentEvent) throws -> Reading {
        if let sentinel, Self.isLast(event, sentinel) { return .end }
        let isChosen = names?.contains(event.event)
        if event.event.isSame(as: "error"), isChosen != true { return .failure }
        if isChosen != true, event.event.isSame(as: "ping") || event.data.isEmpty { return .skipped }
        guard isChosen != false else { return reportsFailure(event) ? .failure : .skipped }
        do {
            let value = try event.decode(Value.self)
            return rules(for: event).isVague && reportsFailure(event) ? .failure : .value(value)
        } catch let error as HTTPError {
            return reportsFailure(event) ? .failure : .undecodable(error)
        }
    }

    static func isLast(_ event: ServerSentEvent, _ sentinel: String) -> Bool {
        event.data.isSame(as: sentinel) || event.event.isSame(as: sentinel)
    }

    private mutating func rules(for event: ServerSentEvent) -> (hasFailures: Bool, isVague: Bool) {
        if let rules { return rules }
        let decoder = event.response?.decoder ?? JSONDecoder()
        func isAnyObject(_ type: any Decodable.Type) -> Bool {
            (try? decoder.value(of: type, from: Data("{}".utf8))) != nil
        }
        let hasFailures = Failure.self != Never.self && !isAnyObject(Failure.self)
        let found = (hasFailures, isVague: hasFailures && isAnyObject(Value.self))
        rules = found
        return found
    }

    private mutating func reportsFailure(_ event: ServerSentEvent) -> Bool {
        let decoder = event.response?.decoder ?? JSONDecoder()
        return rules(for: event).hasFailures
            && (try? decoder.value(of: Failure.self, from: Data(event.data.utf8))) != nil
    }
}

/// Looks for a failure before the first value, while the attempt can still be retried. It does nothing if no retry is
/// allowed.
private struct FirstValue<Value: Decodable & Sendable, Failure: Decodable & Sendable>: HTTPValidator {
    private static var longestBeginning: Int { 64 << 10 }

    let choice: EventChoice<Value, Failure>
    let parser: EventStreamParser

    func validate(response: HTTPResponse, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
        var (parser, choice) = (parser, choice)
        guard request.attemptNumber != nil, request.accepts(response.status), (try? parser.begin(response)) != nil
        else { return .nextValidator }
        let head = response.head
        var (response, count, isFailure) = (response, 0, Bool?.none)
        response.body = await response.body.seen { piece in
            count += piece.count
            parser.append(piece)
            // A fault is ignored here. The reader of the stream finds it as well, and throws it.
            while isFailure == nil, var event = try? parser.next() {
                event.response = head
                switch try? choice.reading(of: event) {
                case .skipped: break
                case .failure: isFailure = true
                default: isFailure = false
                }
            }
            return isFailure != nil || count >= Self.longestBeginning
        }
        response.reportsFailure = isFailure == true
        return .nextValidatorWithResponse(response)
    }
}

private struct EventValues<Value: Decodable & Sendable, Failure: Decodable & Sendable>: AsyncSequence, Sendable {
    let events: EventSequence
    let choice: EventChoice<Value, Failure>
    let undecodable: ServerSentEvent.Undecodable

    func makeAsyncIterator() -> Iterator {
        var events = events.makeAsyncIterator()
        if let sentinel = choice.sentinel {
            events.stream.parser.isLast = { EventChoice<Value, Failure>.isLast($0, sentinel) }
        }
        return Iterator(events: events, choice: choice, undecodable: undecodable)
    }

    struct Iterator: AsyncIteratorProtocol {
        /// Nil after the end.
        var events: EventSequence.Iterator?
        var choice: EventChoice<Value, Failure>
        let undecodable: ServerSentEvent.Undecodable

        mutating func next(isolation actor: (any Actor)?) async throws -> Value? { try await next() }

        mutating func next() async throws -> Value? {
            do {
                while let event = try await events?.element() {
                    switch try choice.reading(of: event) {
                    case .value(let value):
                        events?.stream.delivered()
                        return value
                    case .undecodable(let error):
                        guard case .skip(let report) = undecodable else { throw error }
                        report(error)
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
    /// The error that an event causes if it reports a failure.
    fileprivate var failure: HTTPError {
        var response = response ?? HTTPResponse(request: HTTPRequest(), status: .ok)
        let isJSON = data.utf8.first { $0 > 0x20 }.map { "{[\"".utf8.contains($0) } == true
        response.headers[.contentType] = isJSON ? "application/json" : "text/plain"
        response.body = HTTPResponseBody(Data(data.utf8))
        response.reportsFailure = true
        return HTTPError(
            .reportedFailure, request: response.request, response: response,
            message: "the event stream ended with an error event")
    }
}

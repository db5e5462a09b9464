// SPDX-License-Identifier: MIT
import Foundation

extension HTTPClient {
    /// Sends a template and returns the server-sent events of its response as they arrive (HTML Standard, section 9.2).
    ///
    /// ```swift
    /// for try await event in client.events(of: Completion(prompt: "…")) {
    ///     if event.data == "[DONE]" { break }
    ///     print(try event.decode(Delta.self).text)
    /// }
    /// ```
    ///
    /// The request is sent when the first event is requested. You may use any method and a body. It contains an
    /// `Accept` of `text/event-stream` and a `Cache-Control` of `no-cache`, unless the template sets these header
    /// fields itself. Authentication, retries and redirects work like those of any other request until the head of the
    /// response has arrived. A response of another content type is `.invalidResponse`; a 204 has no events.
    ///
    /// By default, the sequence ends with its connection. To reconnect, pass ``ServerSentEvent/Reconnection/whenClosed``. Each event is
    /// delivered at most once. Leaving the loop, cancelling the task and ``HTTPClient/reset()`` close the connection.
    ///
    /// - Parameters:
    ///   - template: the request. Its ``RequestTemplate/decode(_:)`` is not called.
    ///   - reconnection: whether to reconnect after the connection has ended. Default: never.
    ///   - limit: the maximum number of bytes in a line and in the data of an event; a larger event is
    ///     `.responseTooLarge`. Default: 16 MiB.
    public func events<Template: RequestTemplate>(
        of template: Template, reconnecting reconnection: ServerSentEvent.Reconnection = .never, limit: Int = 16 << 20
    ) -> some AsyncSequence<ServerSentEvent, any Error> & Sendable {
        eventSequence(of: template, reconnecting: reconnection, limit: limit)
    }

    private func eventSequence<Template: RequestTemplate>(
        of template: Template, reconnecting reconnection: ServerSentEvent.Reconnection, limit: Int
    ) -> EventSequence {
        EventSequence(
            client: self, reconnection: reconnection, limit: limit,
            progress: template.options.progressReport,
            request: { try sendable(template).adoptedRequest() },
            connect: { client, id in try await client.stream(EventStreamTemplate(base: template, lastEventID: id)) })
    }

    /// Sends a template and decodes the data of each server-sent event of its response.
    ///
    /// ```swift
    /// for try await delta in client.events(of: Completion(prompt: "…"), as: Delta.self, endingWith: "[DONE]") {
    ///     print(delta.text)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - template: the request. Its ``RequestTemplate/decode(_:)`` is not called.
    ///   - type: the type of the values. If the data of an event cannot be decoded, the error is
    ///     `.cannotDecodeResponse`, after the values of earlier events.
    ///   - sentinel: the data of the event that ends the stream. If it is set, a stream that ends without it is
    ///     `.invalidResponse`, because the stream is incomplete. Default: nil (the stream ends with its connection).
    ///   - reconnection: whether to reconnect after the connection has ended. Default: never.
    ///   - limit: the maximum number of bytes in a line and in the data of an event; a larger event is
    ///     `.responseTooLarge`. Default: 16 MiB.
    public func events<Template: RequestTemplate, Value: Decodable & Sendable>(
        of template: Template, as type: Value.Type, endingWith sentinel: String? = nil,
        reconnecting reconnection: ServerSentEvent.Reconnection = .never, limit: Int = 16 << 20
    ) -> some AsyncSequence<Value, any Error> & Sendable {
        EventValues<Value>(
            events: eventSequence(of: template, reconnecting: reconnection, limit: limit), sentinel: sentinel)
    }
}

private struct EventStreamTemplate<Base: RequestTemplate>: RequestDecorator {
    typealias Response = Base.Response
    typealias Body = Base.Body

    let base: Base
    let lastEventID: String?

    var headers: HTTPHeaders {
        var headers = base.headers
        if !headers.contains(.accept) { headers[.accept] = "text/event-stream" }
        if !headers.contains(.cacheControl) { headers[.cacheControl] = "no-cache" }
        if let lastEventID { headers["Last-Event-ID"] = lastEventID }
        return headers
    }
}

struct EventSequence: AsyncSequence, Sendable {
    let client: HTTPClient
    let reconnection: ServerSentEvent.Reconnection
    let limit: Int
    /// The progress updates of the template. They end with the stream, even if nothing was sent.
    let progress: ProgressUpdates.Report?
    /// Builds the request, which determines whether the stream may reconnect.
    let request: @Sendable () throws -> HTTPRequest
    /// Connects, and sends the identifier of the last event in `Last-Event-ID`, unless it is nil.
    let connect: @Sendable (HTTPClient, String?) async throws -> HTTPResponse

    /// Starts the iteration. Each iteration has a separate connection.
    func makeAsyncIterator() -> Iterator { Iterator(stream: EventStream(self)) }

    struct Iterator: AsyncIteratorProtocol, Sendable {
        fileprivate var stream: EventStream

        /// Returns the next event, or nil at the end of the stream.
        ///
        /// - Throws: ``HTTPError``; and `CancellationError` if the calling task was cancelled. The sequence ends after
        ///   an error.
        mutating func next() async throws -> ServerSentEvent? { try await stream.next() }

        mutating func next(isolation actor: (any Actor)?) async throws -> ServerSentEvent? { try await next() }
    }
}

/// The decoded data of events.
private struct EventValues<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    let events: EventSequence
    let sentinel: String?

    func makeAsyncIterator() -> Iterator { Iterator(events: events.makeAsyncIterator(), sentinel: sentinel) }

    struct Iterator: AsyncIteratorProtocol {
        var events: EventSequence.Iterator?
        let sentinel: String?

        mutating func next(isolation actor: (any Actor)?) async throws -> Value? { try await next() }

        mutating func next() async throws -> Value? {
            do {
                guard let event = try await events?.next() else {
                    guard let sentinel, let ended = events.take() else { return nil }
                    throw ended.stream.missingEnd(sentinel)
                }
                guard sentinel.map({ event.data.isSame(as: $0) }) != true else {
                    events = nil
                    return nil
                }
                return try event.decode(Value.self)
            } catch {
                events = nil
                throw error
            }
        }
    }
}

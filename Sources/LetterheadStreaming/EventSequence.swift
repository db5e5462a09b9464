// SPDX-License-Identifier: MIT
public import Letterhead

extension HTTPClient {
    /// Sends a template, and returns the server-sent events in its response as they arrive (HTML Standard, section
    /// 9.2).
    ///
    /// ```swift
    /// for try await event in client.events(of: News()) { print(event.event, event.data) }
    /// ```
    ///
    /// To receive decoded values instead, use `events(of:as:)`. If you need the response head, send the template with
    /// `stream(_:)`, and iterate over `response.events()`.
    ///
    /// - The request is sent when you ask for the first event. You may use any method and a body.
    /// - Unless the template sets them, `Accept` is `text/event-stream` and `Cache-Control` is `no-cache`.
    /// - Until the response head has arrived, authentication, retries and redirects work as for any other request.
    /// - By default, a response with a different content type throws `.invalidResponse`. A 204 has no events.
    /// - Each event is delivered at most once.
    /// - Leaving the loop, cancelling the task and `reset()` close the connection.
    ///
    /// ## Reconnect
    ///
    /// By default, the sequence ends with its connection. To reconnect with `Last-Event-ID`, pass
    /// ``Reconnection/whenClosed``. Some servers need a different request to continue an interrupted stream. Create it
    /// in a closure:
    ///
    /// ```swift
    /// let changes = client.events(of: Changes(since: "now"), resuming: { $0.id.map { Changes(since: $0) } })
    /// ```
    ///
    /// The first request and each request that a closure returns are always sent. The same request is sent again only
    /// if its method allows it (see ``Reconnection``).
    ///
    /// - Parameters:
    ///   - template: the request. Its `RequestTemplate.decode(_:)` is not called.
    ///   - types: the content types that are read as an event stream. Default: `text/event-stream`.
    ///   - reconnection: when to reconnect. Default: never. If you pass `resume` or `restart`, the default is whenever
    ///     the connection has ended.
    ///   - limit: the maximum number of bytes in a line and in event data. A larger event throws `.responseTooLarge`.
    ///     Default: 16 MiB.
    ///   - resume: returns the request that continues after an event, or nil to send the last request again. It is
    ///     called once for each reconnection, with the last event. Default: nil (the last request is sent again).
    ///   - restart: returns the request to send after an error that would end the sequence, or nil to throw the error.
    ///     An example is 410 Gone because the server no longer has the position. Discard in this closure what you have
    ///     built from the events. The waits of `reconnection` apply. If the closure throws a temporary error, it is
    ///     called again after the next wait. Default: nil (the error is thrown).
    public func events<Template: RequestTemplate>(
        of template: Template, contentTypes types: ServerSentEvent.ContentTypes = .eventStream,
        reconnecting reconnection: Reconnection? = nil, limit: Int = 16 << 20,
        resuming resume: (@Sendable (ServerSentEvent) async throws -> Template?)? = nil,
        restarting restart: (@Sendable (HTTPError) async throws -> Template?)? = nil
    ) -> some AsyncSequence<ServerSentEvent, any Error> & Sendable {
        let isFollowed = resume != nil || restart != nil
        let opening: @Sendable (Template) -> StreamConnection = { EventStreamTemplate(base: $0).connection }
        let connections = StreamConnections(
            client: self, reconnection: reconnection ?? (isFollowed ? .whenClosed : .never),
            options: template.options, first: opening(template),
            restart: isFollowed ? StreamConnection.next(restart ?? { _ in nil }, opening) : nil)
        return EventSequence(
            source: .connections(connections), types: types, limit: limit,
            resume: resume.map { StreamConnection.next($0, opening) })
    }
}

extension HTTPResponse {
    /// Returns the server-sent events in the body as they arrive.
    ///
    /// Use it if the response head decides how to read the body. Otherwise, use `events(of:)`, which sends an `Accept`
    /// of `text/event-stream` and can reconnect.
    ///
    /// ```swift
    /// let response = try await client.stream(Completion(prompt: "…"))
    /// for try await event in response.events() { print(event.data) }
    /// ```
    ///
    /// By default, a response with a different content type throws `.invalidResponse`. A streamed body can be iterated
    /// only once.
    ///
    /// - Parameters:
    ///   - types: the content types that are read as an event stream. Default: `text/event-stream`.
    ///   - limit: the maximum number of bytes in a line and in event data. A larger event throws `.responseTooLarge`.
    ///     Default: 16 MiB.
    public func events(
        contentTypes types: ServerSentEvent.ContentTypes = .eventStream, limit: Int = 16 << 20
    ) -> some AsyncSequence<ServerSentEvent, any Error> & Sendable {
        EventSequence(source: .response(self), types: types, limit: limit)
    }
}

struct EventStreamTemplate<Base: RequestTemplate>: RequestDecorator {
    typealias Response = Base.Response
    typealias Body = Base.Body

    let base: Base
    /// Validators that run after the validators of the base template. Default: none.
    var validators: [any HTTPValidator] = []
    var lastEventID: String?

    var options: HTTPRequestOptions {
        var options = base.options
        options.isLiveStream = true
        if !validators.isEmpty { options.validators += validators }
        return options
    }

    var headers: HTTPHeaders {
        var headers = base.headers
        if !headers.contains(.accept) { headers[.accept] = "text/event-stream" }
        if !headers.contains(.cacheControl) { headers[.cacheControl] = "no-cache" }
        if let lastEventID { headers["Last-Event-ID"] = lastEventID }
        return headers
    }

    var connection: StreamConnection {
        StreamConnection { series in
            try series.request(for: base)
        } open: { client, lastID in
            var template = self
            template.lastEventID = lastID
            return try await client.stream(template)
        }
    }
}

struct EventSequence: AsyncSequence, Sendable {
    let source: StreamSource
    let types: ServerSentEvent.ContentTypes
    let limit: Int
    /// Returns the request that continues after an event. Default: nil (the last request is sent again).
    var resume: (@Sendable (ServerSentEvent) async throws -> StreamConnection?)?

    /// Each iteration has a separate connection.
    func makeAsyncIterator() -> Iterator {
        Iterator(stream: ElementStream(source, parser: EventStreamParser(types, limit: limit)), resume: resume)
    }

    struct Iterator: AsyncIteratorProtocol, Sendable {
        var stream: ElementStream<EventStreamParser>
        fileprivate let resume: (@Sendable (ServerSentEvent) async throws -> StreamConnection?)?

        /// - Throws: `HTTPError`, or `CancellationError` if the calling task was cancelled. The sequence ends after
        ///   an error.
        mutating func next() async throws -> ServerSentEvent? {
            let event = try await element()
            stream.delivered()
            return event
        }

        /// Returns the next event. The caller may skip it, so it doesn't count as delivered.
        mutating func element() async throws -> ServerSentEvent? {
            guard var event = try await stream.next() else { return nil }
            event.response = stream.head
            if let resume { stream.resume = { [event] in try await resume(event) } }
            return event
        }

        mutating func next(isolation actor: (any Actor)?) async throws -> ServerSentEvent? { try await next() }
    }
}

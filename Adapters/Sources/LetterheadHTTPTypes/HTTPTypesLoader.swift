// SPDX-License-Identifier: MIT
public import HTTPTypes
public import Letterhead

/// A loader that responds with a closure over the types of swift-http-types. Use it to send the requests of a client
/// with a different library that has these types, below all links of the client.
///
/// ```swift
/// let transport = HTTPTypesLoader { head, body in
///     let (response, data) = try await library.send(head, body)   // your library's call
///     return HTTPTypesLoader.Reply(response, body: HTTPResponseBody(data))
/// }
/// let client = HTTPClient(environment: .production, transport: transport)
/// ```
///
/// The closure sends one request, without following redirects, and ends when its task is cancelled. The loader does the
/// rest:
///
/// - It checks the request, and adds `Content-Length` if the length of the body is known.
/// - It cancels the closure task when the `timeout` or the deadline of the request has passed. Once a streamed response
///   has arrived, no time limit applies to its body, except those of your library.
/// - It enforces `responseLimit`, and delivers the body in memory, streamed or to a file.
/// - An error from the closure becomes the underlying error of an `HTTPError`.
public struct HTTPTypesLoader: HTTPLoader {
    /// The values that a closure returns: the head of the response, its body, and its trailers.
    public struct Reply: Sendable {
        /// The status and the header fields.
        public var head: HTTPTypes.HTTPResponse
        /// The body. Create a streamed one with `HTTPResponseBody(length:pull:cancel:)`.
        public var body: HTTPResponseBody
        /// Returns the fields after the body. It's called when `HTTPResponse.trailers` is read.
        public var trailers: @Sendable () -> HTTPFields

        /// Creates a reply. Default: no body and no trailers.
        public init(
            _ head: HTTPTypes.HTTPResponse, body: HTTPResponseBody = HTTPResponseBody(),
            trailers: @escaping @Sendable () -> HTTPFields = { [:] }
        ) {
            (self.head, self.body, self.trailers) = (head, body, trailers)
        }
    }

    private let respond: @Sendable (HTTPTypes.HTTPRequest, BodyChunks) async throws -> Reply

    /// Creates a loader. The closure receives the head of the request, and its body as an asynchronous sequence.
    public init(_ respond: @escaping @Sendable (HTTPTypes.HTTPRequest, BodyChunks) async throws -> Reply) {
        self.respond = respond
    }

    /// Responds with the closure.
    ///
    /// - Throws: `.invalidRequest` before the closure is called, `.timedOut`, `.cancelled`, `.responseTooLarge`,
    ///   `.cannotSaveResponse`, and the errors from the closure.
    @concurrent
    public func load(_ request: Letterhead.HTTPRequest) async throws(HTTPError) -> Letterhead.HTTPResponse {
        try request.validate()
        var head = try HTTPTypes.HTTPRequest(request)
        let body = try request.framedBody()
        if let length = body.length, length > 0 || [.post, .put, .patch].contains(request.method) {
            head.headerFields[.contentLength] = "\(length)"
        }
        if let left = request.timeLeft, left <= .zero {
            throw request.deadlinePassed(while: "the request was about to be sent", mayHaveBeenSent: false)
        }
        let timeouts = [
            request.timeLeft.map { ($0, request.deadlinePassed(while: "waiting for the response")) },
            request.timeout.map { ($0, request.timedOut(after: $0)) },
        ]
        let earliest = timeouts.compactMap(\.self).min { $0.0 < $1.0 }
        return try await request.within(earliest) { [head] () throws(HTTPError) in
            let reply = try await request.withHTTPErrors { try await respond(head, body) }
            var response = Letterhead.HTTPResponse(reply.head, to: request, body: reply.body)
            response.provide(
                metrics: { Letterhead.HTTPResponse.Metrics() }, trailers: { HTTPHeaders(reply.trailers()) })
            return try await response.delivered(to: request)
        }
    }
}

extension Letterhead.HTTPRequest {
    fileprivate func timedOut(after limit: Duration) -> HTTPError {
        HTTPError(.timedOut, request: self, message: "the attempt took longer than its timeout of \(limit)")
    }

    /// Runs a closure, and cancels it when a time limit has passed.
    fileprivate func within(
        _ limit: (time: Duration, error: HTTPError)?,
        _ run: @escaping @Sendable () async throws(HTTPError) -> Letterhead.HTTPResponse
    ) async throws(HTTPError) -> Letterhead.HTTPResponse {
        guard let limit else { return try await run() }
        typealias Outcome = Result<Letterhead.HTTPResponse, HTTPError>
        let outcome = await withTaskGroup(of: Outcome?.self) { group in
            group.addTask {
                do throws(HTTPError) { return .success(try await run()) } catch { return .failure(error) }
            }
            group.addTask {
                let hasPassed = (try? await Task.sleep(for: limit.time)) != nil
                return hasPassed ? .failure(limit.error) : nil
            }
            defer { group.cancelAll() }
            // If the sleep was cancelled, the result is still to come from the closure.
            while let outcome = await group.next() {
                if let outcome { return outcome }
            }
            return .failure(HTTPError(.cancelled, request: self))
        }
        return try outcome.get()
    }
}

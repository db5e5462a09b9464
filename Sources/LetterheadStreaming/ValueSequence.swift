// SPDX-License-Identifier: MIT
public import Letterhead
import LetterheadFoundation

extension HTTPClient {
    /// Sends a template, and decodes the JSON values in its response one at a time, as they arrive.
    ///
    /// ```swift
    /// for try await row in client.values(of: ExportRows(), as: Row.self) { print(row) }
    /// ```
    ///
    /// By default, the content type determines the format (see `HTTPResponseBody.JSONFormat`).
    ///
    /// - The request is sent when you ask for the first value. The template decoder decodes each value, or else the
    ///   client decoder. `RequestTemplate.decode(_:)` isn't called.
    /// - The sequence keeps at most one value and one chunk in memory. A value of more than `limit` bytes throws
    ///   `.responseTooLarge`.
    /// - If a value can't be decoded, all earlier values are delivered first. Then the sequence throws
    ///   `.cannotDecodeResponse` with the number of the value.
    /// - A truncated array or text sequence throws `.invalidResponse`.
    /// - Leaving the loop closes the connection. After `reset()`, an iterator that has begun throws `.cancelled`.
    ///
    /// ## Follow a stream that never ends
    ///
    /// To follow a stream such as a watch over keys, pass a closure that returns the next request. It is called when a
    /// connection has ended, and the stream continues after the last value:
    ///
    /// ```swift
    /// let changes = client.values(
    ///     of: Watch("app/"), as: Change.self,
    ///     resuming: { Watch("app/", after: $0.revision) },
    ///     restarting: { $0.response?.status == .gone ? Watch("app/") : nil })
    /// for try await change in changes { apply(change) }
    /// ```
    ///
    /// If a connection is lost inside a value, that value is dropped, because the next request asks for it again. If
    /// two bodies in a row end with a value that can't be decoded, and no value was delivered between them, the error
    /// is thrown.
    ///
    /// The first request and each request that a closure returns are always sent. The same request is sent again only
    /// if its method allows it (see ``Reconnection``).
    ///
    /// - Parameters:
    ///   - template: the request.
    ///   - type: the value type.
    ///   - format: the response format. Default: determined by the content type.
    ///   - limit: the maximum number of bytes in a value. Default: 16 MiB.
    ///   - reconnection: when to reconnect. Default: never. If you pass `resume` or `restart`, the default is whenever
    ///     the connection has ended.
    ///   - resume: returns the request that continues after a value, or nil to send the last request again. It is
    ///     called once for each reconnection, with the last value. Default: nil (the last request is sent again).
    ///   - restart: returns the request to send after an error that would end the sequence, or nil to throw the error.
    ///     Examples are 410 Gone because the server no longer has the position, and a value that can't be decoded.
    ///     Discard in this closure what you have built from the values. The waits of `reconnection` apply. If the
    ///     closure throws a temporary error, it is called again after the next wait. Default: nil (the error is
    ///     thrown).
    public func values<Template: RequestTemplate, Value: Decodable & Sendable>(
        of template: Template, as type: Value.Type, format: HTTPResponseBody.JSONFormat = .automatic,
        limit: Int = 16 << 20, reconnecting reconnection: Reconnection? = nil,
        resuming resume: (@Sendable (Value) async throws -> Template?)? = nil,
        restarting restart: (@Sendable (HTTPError) async throws -> Template?)? = nil
    ) -> some AsyncSequence<Value, any Error> & Sendable {
        let isFollowed = resume != nil || restart != nil
        let opening: @Sendable (Template) -> StreamConnection = {
            ValueStreamTemplate(base: $0, format: format, isFollowed: isFollowed).connection
        }
        let connections = StreamConnections(
            client: self, reconnection: reconnection ?? (isFollowed ? .whenClosed : .never),
            options: template.options, first: opening(template),
            restart: isFollowed ? StreamConnection.next(restart ?? { _ in nil }, opening) : nil)
        return ValueSequence<Value>(
            source: .connections(connections), format: format, limit: limit,
            resume: resume.map { StreamConnection.next($0, opening) })
    }
}

extension HTTPResponse {
    /// Decodes the JSON values in the body one at a time, as they arrive.
    ///
    /// Use it if the response head decides how to read the body:
    ///
    /// ```swift
    /// let response = try await client.stream(Search("…"))
    /// if response.headers[.contentType] == "application/x-ndjson" {
    ///     for try await hit in response.values(as: Hit.self) { print(hit) }
    /// }
    /// ```
    ///
    /// Otherwise, use `values(of:as:)`, which has the same rules. A streamed body can be iterated once.
    public func values<Value: Decodable & Sendable>(
        as type: Value.Type, format: HTTPResponseBody.JSONFormat = .automatic, limit: Int = 16 << 20
    ) -> some AsyncSequence<Value, any Error> & Sendable {
        ValueSequence<Value>(source: .response(self), format: format, limit: limit)
    }
}

private struct ValueStreamTemplate<Base: RequestTemplate>: RequestDecorator {
    typealias Response = Base.Response
    typealias Body = Base.Body

    let base: Base
    let format: HTTPResponseBody.JSONFormat
    /// Whether the stream never ends. Its request then doesn't accept a text sequence: a value in a text sequence ends
    /// only where the next one begins, so each value would arrive too late.
    let isFollowed: Bool

    var options: HTTPRequestOptions {
        var options = base.options
        if isFollowed { options.isLiveStream = true }
        return options
    }

    var headers: HTTPHeaders {
        var headers = base.headers
        guard !headers.contains(.accept) else { return headers }
        headers[.accept] =
            switch format {
            case .automatic where isFollowed: "application/x-ndjson, application/json;q=0.9"
            case .automatic: "application/x-ndjson, application/json-seq, application/json;q=0.9"
            case .lines: "application/x-ndjson"
            case .textSequence: "application/json-seq"
            case .array: "application/json"
            }
        return headers
    }

    var connection: StreamConnection {
        StreamConnection { series in
            try series.request(for: base)
        } open: { client, _ in
            try await client.stream(self)
        }
    }
}

private struct ValueSequence<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    let source: StreamSource
    let format: HTTPResponseBody.JSONFormat
    let limit: Int
    /// Returns the request that continues after a value. Default: nil (the last request is sent again).
    var resume: (@Sendable (Value) async throws -> StreamConnection?)?

    func makeAsyncIterator() -> Iterator {
        Iterator(stream: ElementStream(source, parser: JSONTextParser(format: format, limit: limit)), resume: resume)
    }

    struct Iterator: AsyncIteratorProtocol {
        var stream: ElementStream<JSONTextParser>
        let resume: (@Sendable (Value) async throws -> StreamConnection?)?

        mutating func next(isolation actor: (any Actor)?) async throws -> Value? { try await next() }

        mutating func next() async throws -> Value? {
            while let text = try await stream.next() {
                let decoder = stream.head?.decoder ?? JSONDecoder()
                do {
                    let value = try decoder.value(of: Value.self, from: text)
                    if let resume { stream.resume = { try await resume(value) } }
                    stream.delivered()
                    return value
                } catch {
                    let problem = decoder.problem(
                        error, decoding: Value.self, from: text, for: stream.head?.request)
                    try await stream.recover(
                        from: stream.error(
                            .cannotDecodeResponse, "value \(stream.parser.count): \(problem)", underlying: error))
                }
            }
            return nil
        }
    }
}

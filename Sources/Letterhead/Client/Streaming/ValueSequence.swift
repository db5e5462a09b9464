// SPDX-License-Identifier: MIT
import LetterheadFoundation

extension HTTPClient {
    /// Sends a template and decodes the JSON values of its response one at a time, as they arrive.
    ///
    /// ```swift
    /// for try await row in client.values(of: ExportRows(), as: Row.self) { print(row) }
    /// ```
    ///
    /// The request is sent when the first value is requested. Its ``RequestTemplate/decode(_:)`` is not called: its
    /// decoder, or that of the client, decodes each value. By default, the content type determines the format. At most
    /// one value and one chunk of the body are kept in memory; a value of more than `limit` bytes is
    /// `.responseTooLarge`. If a value cannot be decoded, all earlier values are delivered first; the error is then
    /// `.cannotDecodeResponse` and contains the number of the value. A truncated array or text sequence is
    /// `.invalidResponse`. Leaving the loop closes the connection. After ``reset()``, the next call of an iterator that
    /// has begun throws `.cancelled`.
    public func values<Template: RequestTemplate, Value: Decodable & Sendable>(
        of template: Template, as type: Value.Type, format: HTTPResponseBody.JSONFormat = .automatic,
        limit: Int = 16 << 20
    ) -> some AsyncSequence<Value, any Error> & Sendable {
        ValueSequence<Value>(
            source: .connections(valueConnections(of: template, .never, format)), format: format, limit: limit)
    }

    /// Follows the values of a server that never ends them, such as a watch over keys. When a connection has ended, the
    /// next request continues at the position of the last value.
    ///
    /// ```swift
    /// let changes = client.values(
    ///     of: Watch("app/"), as: Change.self,
    ///     resuming: { Watch("app/", after: $0.revision) },
    ///     restarting: { $0.response?.status == .gone ? Watch("app/") : nil })
    /// for try await change in changes { apply(change) }
    /// ```
    ///
    /// Values are decoded as those of ``values(of:as:format:limit:)``. If a connection is lost inside a value, that value
    /// is dropped, because the next request asks for it again.
    ///
    /// - Parameters:
    ///   - template: the first request.
    ///   - type: the type of the values.
    ///   - format: the format of the response. Default: determined by the content type.
    ///   - limit: the maximum number of bytes in a value. Default: 16 MiB.
    ///   - reconnection: when to reconnect. Default: whenever the connection has ended.
    ///   - resume: returns the request that continues after a value; nil to send the last request again. It is called
    ///     once for each reconnection, with the last value.
    ///   - restart: returns the request to send after an error that would end the sequence, such as 410 Gone because
    ///     the server no longer has the position; nil to throw the error. The waits of `reconnection` apply. Default:
    ///     nil.
    public func values<Template: RequestTemplate, Value: Decodable & Sendable>(
        of template: Template, as type: Value.Type, format: HTTPResponseBody.JSONFormat = .automatic,
        limit: Int = 16 << 20, reconnecting reconnection: Reconnection = .whenClosed,
        resuming resume: @escaping @Sendable (Value) async throws -> Template?,
        restarting restart: @escaping @Sendable (HTTPError) async throws -> Template? = { _ in nil }
    ) -> some AsyncSequence<Value, any Error> & Sendable {
        let connections = valueConnections(of: template, reconnection, format) { error in
            try await restart(error).map { ValueStreamTemplate(base: $0, format: format).open }
        }
        return ValueSequence<Value>(source: .connections(connections), format: format, limit: limit) { value in
            try await resume(value).map { ValueStreamTemplate(base: $0, format: format).open }
        }
    }

    private func valueConnections<Template: RequestTemplate>(
        of template: Template, _ reconnection: Reconnection, _ format: HTTPResponseBody.JSONFormat,
        restarting restart: (@Sendable (HTTPError) async throws -> StreamConnections.Open?)? = nil
    ) -> StreamConnections {
        StreamConnections(
            client: self, reconnection: reconnection, progress: template.options.progressReport,
            request: { try sendable(template).adoptedRequest() },
            open: ValueStreamTemplate(base: template, format: format).open, restart: restart)
    }
}

extension HTTPResponse {
    /// Decodes the JSON values of the body one at a time, as they arrive.
    ///
    /// Use it if the head of the response decides how to read the body:
    ///
    /// ```swift
    /// let response = try await client.stream(Search("…"))
    /// if response.headers.mediaType?.essence == "application/x-ndjson" {
    ///     for try await hit in response.values(as: Hit.self) { print(hit) }
    /// }
    /// ```
    ///
    /// Otherwise, use ``HTTPClient/values(of:as:format:limit:)``, whose rules apply. A streamed body can be iterated once.
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

    var headers: HTTPHeaders {
        var headers = base.headers
        guard !headers.contains(.accept) else { return headers }
        headers[.accept] =
            switch format {
            case .automatic: "application/x-ndjson, application/json-seq, application/json;q=0.9"
            case .lines: "application/x-ndjson"
            case .textSequence: "application/json-seq"
            case .array: "application/json"
            }
        return headers
    }

    var open: StreamConnections.Open { { client, _ in try await client.stream(self) } }
}

private struct ValueSequence<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    let source: StreamSource
    let format: HTTPResponseBody.JSONFormat
    let limit: Int
    /// Returns what opens the connection that continues after a value. Default: nil (the same as before).
    var resume: (@Sendable (Value) async throws -> StreamConnections.Open?)?

    func makeAsyncIterator() -> Iterator {
        Iterator(stream: source.stream(JSONTextParser(format: format, limit: limit)), resume: resume)
    }

    struct Iterator: AsyncIteratorProtocol {
        var stream: ElementStream<JSONTextParser>
        let resume: (@Sendable (Value) async throws -> StreamConnections.Open?)?

        mutating func next(isolation actor: (any Actor)?) async throws -> Value? { try await next() }

        mutating func next() async throws -> Value? {
            guard let text = try await stream.next() else { return nil }
            let decoder = stream.origin?.request.decoder ?? JSONDecoder()
            do {
                let value = try decoder.value(of: Value.self, from: text)
                if let resume { stream.resume = { try await resume(value) } }
                return value
            } catch {
                let problem = DecodingProblem(
                    error, type: Value.self, in: text, decoder: decoder, for: stream.origin?.request)
                stream.end()
                throw stream.error(
                    .cannotDecodeResponse, "value \(stream.parser.count): \(problem)", underlying: error)
            }
        }
    }
}

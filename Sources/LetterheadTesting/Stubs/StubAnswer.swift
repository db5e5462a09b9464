// SPDX-License-Identifier: MIT
public import LetterheadFoundation
public import Letterhead

/// Determines how a stub responds to one request.
///
/// A stub closure returns a `Response` value of the endpoint, or an answer for any other response:
///
/// ```swift
/// stubs.on(GetUser.self) { template in User(login: template.login) }
/// stubs.on(CreateUser.self) { _ in .failure(Problem(title: "taken"), status: .conflict) }
/// stubs.on(DeleteUser.self) { _ in .error(.connectionLost) }
/// stubs.on(Export.self) { _ in .delayed(.seconds(30), .status(.accepted)) }
/// ```
///
/// Values are encoded, and the client decodes the bytes like a response from a server. If the ``StubLoader`` has no
/// encoder, one that matches the client decoder is used: a `JSONEncoder` with the same strategies for dates, data, keys
/// and floats, or a `PropertyListEncoder`.
public struct StubAnswer<Template: RequestTemplate>: Sendable {
    let respond: @Sendable (StubInput) async throws -> HTTPResponse

    init(_ respond: @escaping @Sendable (StubInput) async throws -> HTTPResponse) { self.respond = respond }

    /// Responds with a value.
    ///
    /// The endpoint type `Response` must be `Encodable`, `Data`, `String`, `Void`, `HTTPResponse`, or an optional of
    /// one of these. Otherwise, the request fails with `.unknown`, and the underlying error names the type.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - status: the status. Default: 200.
    ///   - headers: further headers. A Content-Type among them takes precedence. Default: empty.
    public static func value(
        _ value: Template.Response, status: HTTPStatus = .ok, headers: HTTPHeaders = [:]
    ) -> StubAnswer {
        StubAnswer { input in
            if var response = value as? HTTPResponse {
                response.request = input.request
                return response
            }
            return try input.response(encoding: value, status: status, headers: headers)
        }
    }

    /// Responds with a status and an optional body.
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - headers: the headers. Default: empty.
    ///   - body: the body. Default: empty.
    public static func status(
        _ status: HTTPStatus, headers: HTTPHeaders = [:], body: Data = Data()
    ) -> StubAnswer {
        StubAnswer { input in
            HTTPResponse(request: input.request, status: status, headers: headers, body: HTTPResponseBody(body))
        }
    }

    /// Responds with a value of any type, encoded like a `Response` value.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - status: the status. Default: 200.
    ///   - headers: further headers. A Content-Type among them takes precedence. Default: empty.
    public static func json(
        _ value: some Encodable & Sendable, status: HTTPStatus = .ok, headers: HTTPHeaders = [:]
    ) -> StubAnswer {
        StubAnswer { input in
            var headers = headers
            if !headers.contains(.contentType) { headers[.contentType] = "application/json" }
            return try input.response(encoding: value, status: status, headers: headers)
        }
    }

    /// Responds with a failure, encoded like a value. The endpoint type `Failure` must be `Encodable`.
    ///
    /// - Parameters:
    ///   - failure: the failure. The client throws an `HTTPError`, and its `failure(of:)` returns this value.
    ///   - status: the status, which the endpoint must not accept. Default: 400.
    public static func failure(_ failure: Template.Failure, status: HTTPStatus = .badRequest) -> StubAnswer {
        StubAnswer { input in try input.response(encoding: failure, status: status, headers: [:]) }
    }

    /// Fails the request as a transport does.
    ///
    /// - Parameters:
    ///   - code: the error code.
    ///   - mayHaveBeenSent: whether the request may have reached the server, which retries take into account. Default:
    ///     nil (determined by the code).
    public static func error(_ code: HTTPError.Code, mayHaveBeenSent: Bool? = nil) -> StubAnswer {
        StubAnswer { input in
            throw HTTPError(
                code, request: input.request, message: "the stub of \(input.name) fails with this error",
                mayHaveBeenSent: mayHaveBeenSent)
        }
    }

    /// Responds with the result of a closure. The closure receives the request, and can return any response.
    public static func response(
        _ make: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) -> StubAnswer {
        StubAnswer { input in
            var response = try await make(input.request)
            response.request = input.request
            return response
        }
    }

    /// Sends the request to a different loader, such as a transport, and returns the response. The call is recorded.
    ///
    /// ```swift
    /// stubs.on(GetUser.self, where: { $0.login != "ada" }) { _ in .passThrough(to: HTTPClient.defaultTransport) }
    /// ```
    ///
    /// To pass on all requests that no stub answers, use `StubLoader(otherwise: loader)`.
    public static func passThrough(to loader: any HTTPLoader) -> StubAnswer {
        StubAnswer { input in try await loader.load(input.forwarded) }
    }

    /// Responds with a value after a delay on the ``StubLoader`` clock. Request time limits apply.
    public static func delayed(_ delay: Duration, _ value: Template.Response) -> StubAnswer {
        delayed(delay, .value(value))
    }

    /// Responds with an answer after a delay on the ``StubLoader`` clock. Request time limits apply.
    public static func delayed(_ delay: Duration, _ answer: StubAnswer) -> StubAnswer {
        StubAnswer { input in
            try await input.clock.pause(for: delay)
            return try await answer.respond(input)
        }
    }
}

extension StubAnswer {
    /// Responds with a body that arrives in pieces.
    ///
    /// - Parameters:
    ///   - pieces: the pieces, in order.
    ///   - interval: the time before each piece, on the ``StubLoader`` clock. Default: zero.
    ///   - status: the status. Default: 200.
    ///   - headers: the headers. Default: empty.
    public static func stream(
        _ pieces: [Data], every interval: Duration = .zero, status: HTTPStatus = .ok, headers: HTTPHeaders = [:]
    ) -> StubAnswer {
        StubAnswer { input in
            HTTPResponse(
                request: input.request, status: status, headers: headers,
                body: HTTPResponseBody(pieces: pieces.map { (interval, $0) }, clock: input.clock))
        }
    }

    /// Responds with server-sent events, one after the other.
    ///
    /// - Parameters:
    ///   - events: the events, in order.
    ///   - interval: the time before each event, on the ``StubLoader`` clock. Default: zero.
    public static func events(_ events: [ServerSentEvent], every interval: Duration = .zero) -> StubAnswer {
        stream(
            events.map { Data($0.eventStreamText.utf8) }, every: interval,
            headers: [.contentType: "text/event-stream"])
    }

    /// Responds with one of several pages: the one with the page number in the template.
    ///
    /// If a page follows, the response has a `Link` with `rel="next"` (RFC 8288). Its target is the request URL, with
    /// the next page number as the parameter `page`. Pagination by number and by link therefore works without further
    /// headers. For pagination by cursor, the values must contain the cursor.
    ///
    /// - Parameter pages: the values, beginning with the first page. For a number after the last page, the response is
    ///   an empty JSON array if the last page is a JSON array. Otherwise, it is a 404.
    public static func pages(_ pages: [Template.Response]) -> StubAnswer {
        StubAnswer { input in
            let number = (input.request.template as? any PaginatedTemplate)?.page ?? 1
            guard number >= 1, number <= pages.count else { return try input.pageBeyond(pages.last) }
            var headers = HTTPHeaders()
            if number < pages.count {
                var query = input.request.query
                query["page"] = "\(number + 1)"
                headers["Link"] = "<\(input.path)?\(query.escaped)>; rel=\"next\""
            }
            return try input.response(encoding: pages[number - 1], status: .ok, headers: headers)
        }
    }
}

extension StubInput {
    /// Returns the response to a page after the last one.
    fileprivate func pageBeyond(_ last: Any?) throws -> HTTPResponse {
        let encoded = try last.map { try StubEncoding.encode($0, for: self) }
        guard encoded?.body.first == UInt8(ascii: "[") else { return HTTPResponse(request: request, status: .notFound) }
        return response((Data("[]".utf8), encoded?.mediaType), status: .ok, headers: [:])
    }

    func response(encoding value: Any, status: HTTPStatus, headers: HTTPHeaders) throws -> HTTPResponse {
        response(try StubEncoding.encode(value, for: self), status: status, headers: headers)
    }

    private func response(_ encoded: StubEncoding.Encoded, status: HTTPStatus, headers: HTTPHeaders) -> HTTPResponse {
        var headers = headers
        if let type = encoded.mediaType, !headers.contains(.contentType) { headers[.contentType] = type }
        return HTTPResponse(
            request: request, status: status, headers: headers, body: HTTPResponseBody(encoded.body))
    }
}

/// Encodes a stub value, so that the client can decode it.
enum StubEncoding {
    /// The bytes of a value, and their media type.
    typealias Encoded = (body: Data, mediaType: String?)

    /// Encodes a value.
    ///
    /// - Parameters:
    ///   - value: an encodable value, `Data`, `String`, `Void`, or an optional with one of these.
    ///   - input: the request. If the loader has no encoder, the decoder of this request determines the format.
    static func encode(_ value: Any, for input: StubInput) throws -> Encoded {
        switch value {
        case is Void: return (Data(), nil)
        case let data as Data: return (data, "application/octet-stream")
        case let text as String: return (Data(text.utf8), "text/plain; charset=utf-8")
        default: break
        }
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional {
            guard let wrapped = mirror.children.first?.value else { return (Data(), nil) }
            return try encode(wrapped, for: input)
        }
        guard let encodable = value as? any Encodable else {
            throw PlainFailure(
                "the stub cannot encode \(type(of: value)), because it is not Encodable: make it Encodable "
                    + "in the tests, or return .json(…) or .status(…)")
        }
        let (encoder, mediaType) = try encoder(for: input)
        return (try encoder.encode(encodable), mediaType)
    }

    private static func encoder(for input: StubInput) throws -> (any HTTPBodyEncoder, String) {
        let decoder = try (input.request.decoder ?? JSONDecoder()).decoder(for: nil)
        let mediaType = input.request.decoder?.mediaTypes.first?.description ?? "application/json"
        if let encoder = input.encoder { return (encoder, mediaType) }
        if let decoder = decoder as? JSONDecoder { return (JSONEncoder(matching: decoder), mediaType) }
        if mediaType == "application/x-plist" { return (PropertyListEncoder(), mediaType) }
        throw PlainFailure(
            "the stub has no encoder for the decoder \(type(of: decoder)): pass one to "
                + "StubLoader(encoder:)")
    }
}

extension JSONEncoder {
    /// Creates an encoder with the strategies of a decoder, reversed.
    ///
    /// A custom strategy for dates or data can't be reversed, so encoding a value that needs it throws an error. If the
    /// decoder has a custom strategy for keys, keys are encoded unchanged.
    convenience init(matching decoder: JSONDecoder) {
        self.init()
        outputFormatting = [.sortedKeys]
        switch decoder.dateDecodingStrategy {
        case .deferredToDate: dateEncodingStrategy = .deferredToDate
        case .secondsSince1970: dateEncodingStrategy = .secondsSince1970
        case .millisecondsSince1970: dateEncodingStrategy = .millisecondsSince1970
        case .iso8601: dateEncodingStrategy = .iso8601
        #if canImport(Darwin)
            case .formatted(let formatter): dateEncodingStrategy = .formatted(formatter)
        #endif
        default: dateEncodingStrategy = .custom { _, _ in throw Self.noCounterpart("dateDecodingStrategy") }
        }
        switch decoder.dataDecodingStrategy {
        case .deferredToData: dataEncodingStrategy = .deferredToData
        case .base64: dataEncodingStrategy = .base64
        default: dataEncodingStrategy = .custom { _, _ in throw Self.noCounterpart("dataDecodingStrategy") }
        }
        if case .convertFromSnakeCase = decoder.keyDecodingStrategy { keyEncodingStrategy = .convertToSnakeCase }
        switch decoder.nonConformingFloatDecodingStrategy {
        case .convertFromString(positiveInfinity: let positive, negativeInfinity: let negative, nan: let nan):
            nonConformingFloatEncodingStrategy = .convertToString(
                positiveInfinity: positive, negativeInfinity: negative, nan: nan)
        default: break
        }
    }

    private static func noCounterpart(_ strategy: String) -> PlainFailure {
        PlainFailure(
            "the custom \(strategy) of the client's decoder has no counterpart: pass an encoder to "
                + "StubLoader(encoder:)")
    }
}

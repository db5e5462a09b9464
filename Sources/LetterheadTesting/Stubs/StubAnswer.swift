// SPDX-License-Identifier: MIT
public import LetterheadFoundation
public import Letterhead

/// A stub's response to one request.
///
/// A stub's closure returns a value for the endpoint's `Response`, or an answer for any other response:
///
/// ```swift
/// stubs.on(GetUser.self) { template in User(login: template.login) }
/// stubs.on(CreateUser.self) { _ in .failure(Problem(title: "taken"), status: .conflict) }
/// stubs.on(DeleteUser.self) { _ in .error(.connectionLost) }
/// stubs.on(Export.self) { _ in .delayed(.seconds(30), .status(.accepted)) }
/// ```
///
/// The ``StubLoader``'s encoder encodes values. Without one, the client decoder's counterpart does: `JSONEncoder` with
/// the same strategies for dates, data, keys and floats, or `PropertyListEncoder`. The client decodes the bytes like a
/// server's response.
public struct StubAnswer<Template: RequestTemplate>: Sendable {
    let respond: @Sendable (StubInput) async throws -> HTTPResponse

    init(_ respond: @escaping @Sendable (StubInput) async throws -> HTTPResponse) { self.respond = respond }

    /// Returns a value for the endpoint's `Response`.
    ///
    /// Its type must be `Encodable`, `Data`, `String`, `Void`, `HTTPResponse`, or an optional with one of these.
    /// Otherwise the request fails with `.unknown`, and the underlying error names the type.
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

    /// Returns a status with an optional body.
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

    /// Returns any value, encoded like the endpoint's.
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

    /// Returns the endpoint's failure, encoded like a value. Its type must be `Encodable`.
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
    ///   - code: the error's code.
    ///   - mayHaveBeenSent: false if nothing was sent. Default: nil (determined by the code).
    public static func error(_ code: HTTPError.Code, mayHaveBeenSent: Bool? = nil) -> StubAnswer {
        StubAnswer { input in
            throw HTTPError(
                code, request: input.request, message: "the stub of \(input.name) fails with this error",
                mayHaveBeenSent: mayHaveBeenSent)
        }
    }

    /// Returns a closure's response. The closure receives the request.
    public static func response(
        _ make: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) -> StubAnswer {
        StubAnswer { input in
            var response = try await make(input.request)
            response.request = input.request
            return response
        }
    }

    /// Sends the request on to another loader, such as a transport, and returns its response. The call is recorded.
    ///
    /// ```swift
    /// stubs.on(GetUser.self, where: { $0.login != "ada" }) { _ in .passThrough(to: HTTPClient.defaultTransport) }
    /// ```
    ///
    /// To pass on all requests that no stub answers, use `StubLoader(otherwise: loader)`.
    public static func passThrough(to loader: any HTTPLoader) -> StubAnswer {
        StubAnswer { input in try await loader.load(input.forwarded) }
    }

    /// Returns the request's headers and body, with the status 200.
    public static var echo: StubAnswer {
        StubAnswer { input in
            let body = HTTPResponseBody(try await input.allBytes())
            return HTTPResponse(
                request: input.request, status: .ok, headers: input.request.framedHeaders(), body: body)
        }
    }

    /// Returns a value after a delay, which is measured on the ``StubLoader``'s clock. The request's time limits apply.
    public static func delayed(_ delay: Duration, _ value: Template.Response) -> StubAnswer {
        delayed(delay, .value(value))
    }

    /// Returns another answer after a delay, which is measured on the ``StubLoader``'s clock. The request's time limits
    /// apply.
    public static func delayed(_ delay: Duration, _ answer: StubAnswer) -> StubAnswer {
        StubAnswer { input in
            try await input.clock.pause(for: delay)
            return try await answer.respond(input)
        }
    }
}

extension StubAnswer {
    /// Returns a body that arrives in pieces.
    ///
    /// - Parameters:
    ///   - pieces: the pieces, in order.
    ///   - interval: the time before each piece, on the ``StubLoader``'s clock. Default: zero.
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

    /// Returns server-sent events, one after the other.
    ///
    /// - Parameters:
    ///   - events: the events, in order.
    ///   - interval: the time before each event, on the ``StubLoader``'s clock. Default: zero.
    public static func events(_ events: [ServerSentEvent], every interval: Duration = .zero) -> StubAnswer {
        stream(
            events.map { Data($0.eventStreamText.utf8) }, every: interval,
            headers: [.contentType: "text/event-stream"])
    }

    /// Returns one page: the one with the template's page number.
    ///
    /// If a page follows, the response has a `Link` with `rel="next"` (RFC 8288). Its target is the request's URL with
    /// the next page number as its `page` parameter. Pagination by number and by link therefore works without further
    /// headers. For pagination by cursor, the values must contain the cursor.
    ///
    /// - Parameter pages: the values, beginning with the first page. For a number after the last page, the response is
    ///   an empty JSON array if the last page is a JSON array, and 404 otherwise.
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

    /// Returns a response with an encoded value.
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

// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation

/// Determines how requests and responses are written as data. Pass the same form to a ``Relay`` and its
/// ``RelayServer``, or use it alone to keep requests for later, as in an outbox:
///
/// ```swift
/// let form = WireForm(carrying: [WireForm.Option(Tenant.self, named: "tenant")])
/// try await form.data(of: request).write(to: file)
/// let response = try await chain.load(form.request(from: Data(contentsOf: file)))
/// ```
///
/// A message is a JSON object on one line, a line feed, and the bytes of the body. The member `request` or `response`
/// contains the message without the body, and `length` is the number of bytes in the body:
///
/// ```
/// {"length":2,"letterhead":1,"request":{"headers":[["Accept","text/plain"]],"method":"POST",
///   "settings":{"timeout":5000},
///   "target":{"host":"api.example.com","path":"/users","query":"page=2","scheme":"https"}}}
/// ```
///
/// These parts travel with a request:
/// - the method, the URL, the headers including those that the body adds, and the body, which may have at most 64 MiB
/// - `timeout`, `idleTimeout`, `connectTimeout`, the time that is left until the deadline, `acceptedStatuses`,
///   `responseLimit` if it is set, `isSecret`, `isSignedOnce`, the names that its `redaction` adds, its route, and the
///   origin that the environment headers belong to. The values of its `redaction` travel only if secrets do
/// - the options that the form carries by name (the reading end refuses an option that only the writing end carries)
///
/// All other options stay where the request was created, because the links there have applied them: retries,
/// validators, decoders, caching and redirects.
public struct WireForm: Sendable {
    /// How a form treats the secrets in a request or a response.
    ///
    /// These are secret:
    /// - headers and query items that are marked as secret or have a secret name
    /// - values that a path marks as secret or that a `Redaction` lists
    /// - the request body if `RequestSettings.isSecret` is set
    public enum Secrets: Sendable {
        /// A request with secrets is `.invalidRequest`. A response travels without its secret headers and trailers,
        /// such as `Set-Cookie`, and lists them in `HTTPResponse.headersLeftOut`. If the URL that the other end sent
        /// the request to contains a secret value, `HTTPResponse.request` keeps the URL of this end.
        case refused
        /// Secrets are written like anything else. Use it only if the data is protected on its way and in storage.
        case travel
    }

    /// An option that travels, with its name in the data.
    public struct Option: Sendable {
        let name: String
        let write: @Sendable (HTTPRequest) throws -> JSONValue?
        let read: @Sendable (JSONValue, inout HTTPRequest) throws -> Void

        /// Creates an option that is written as JSON.
        ///
        /// A request that doesn't set the option is written without it.
        ///
        /// - Parameters:
        ///   - option: the type of the option.
        ///   - name: its name in the data, the same at both ends.
        public init<Key: HTTPRequestOption & SendableMetatype>(_ option: Key.Type, named name: String)
        where Key.Value: Codable {
            self.name = name
            write = { request in
                guard request.options.contains(option) else { return nil }
                return try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(request[option: option]))
            }
            read = { value, request in
                request[option: option] = try JSONDecoder().decode(Key.Value.self, from: JSONEncoder().encode(value))
            }
        }
    }

    let options: [Option]
    let secrets: Secrets

    /// Creates a form. By default, no options travel and secrets are refused.
    public init(carrying options: [Option] = [], secrets: Secrets = .refused) {
        (self.options, self.secrets) = (options, secrets)
    }

    /// Returns a request as data.
    ///
    /// - Throws: `.invalidRequest` if the request is malformed, if it contains a secret and the form refuses secrets,
    ///   or if its body has more than 64 MiB. The errors of the body.
    public func data(of request: HTTPRequest) async throws(HTTPError) -> Data {
        try await data(of: request, id: nil)
    }

    /// Returns the request that data contains. Its body is in memory.
    ///
    /// - Throws: `.invalidRequest` if the data is not a request in this form.
    public func request(from data: Data) throws(HTTPError) -> HTTPRequest {
        do {
            let (message, body) = try WireMessage.read(data)
            guard let request = message.request else { throw WireMessage.Malformed("it is not a request") }
            return try self.request(request, body)
        } catch {
            throw HTTPError(
                .invalidRequest, request: HTTPRequest(),
                message: "the data is not a request: \(HTTPError.summary(of: error))")
        }
    }

    /// Returns a response as data, with its whole body.
    ///
    /// - Throws: an error if a streamed body can't be read.
    public func data(of response: HTTPResponse) async throws(HTTPError) -> Data {
        let body = try await response.request.withHTTPErrors { try await response.body.data() }
        return message(of: response).data(with: body)
    }

    /// Returns the response that data contains, as the response to a request.
    ///
    /// - Throws: `.invalidResponse` if the data is not a response in this form, and the error that the data contains.
    public func response(from data: Data, to request: HTTPRequest) throws(HTTPError) -> HTTPResponse {
        try response(read(data, for: request), to: request)
    }
}

// MARK: Requests

extension WireForm {
    private static let bodyLimit = 64 << 20

    /// Returns a request as data.
    ///
    /// - Parameter id: identifies the request in a message that cancels it. Nil if it isn't sent by a relay.
    func data(of request: HTTPRequest, id: String?) async throws(HTTPError) -> Data {
        try request.validateForRelay()
        var framed = request
        framed.headers = request.framedHeaders()
        try check(framed)
        var message = WireMessage()
        message.request = WireMessage.Request(
            id: id, method: request.hasMethod ? request.method.rawValue : nil,
            target: WireMessage.Target(request, query: request.query), headers: framed.headers.pairs,
            settings: WireMessage.Settings(framed), options: try values(of: request))
        if secrets == .refused { message.request?.settings.secretValues = nil }
        return message.data(with: try await Self.body(of: request))
    }

    private func check(_ request: HTTPRequest) throws(HTTPError) {
        guard secrets == .refused else { return }
        let header = request.headers.first { request.hides($0) }
            .map { "the header \(Redaction.visible($0.name.rawValue))" }
        let item = request.query.first { request.isSecret($0) }.map { "the query item \(Redaction.visible($0.name))" }
        let address = request.hides(request.target) ? "a value in the path or the query" : nil
        guard let secret = header ?? item ?? address ?? (request.isSecret ? "the body" : nil) else { return }
        throw HTTPError(
            .invalidRequest, request: request,
            message: "\(secret) is secret and is not sent over the relay: let the other end add it, or create the "
                + "WireForm with secrets: .travel")
    }

    private func values(of request: HTTPRequest) throws(HTTPError) -> [String: JSONValue]? {
        var values: [String: JSONValue] = [:]
        for option in options {
            do { values[option.name] = try option.write(request) } catch {
                throw HTTPError(
                    .invalidRequest, request: request, underlying: error,
                    message: "the option \(option.name) cannot be encoded")
            }
        }
        return values.isEmpty ? nil : values
    }

    private static func body(of request: HTTPRequest) async throws(HTTPError) -> Data? {
        guard !request.body.isEmpty else { return nil }
        let chunks = try request.framedBody()
        do {
            var body = Data()
            for try await chunk in chunks {
                guard body.count + chunk.count <= bodyLimit else {
                    throw HTTPBodyError.invalid("a relayed body may have at most \(bodyLimit) bytes")
                }
                body.append(chunk)
            }
            return body
        } catch {
            throw HTTPError(ofBody: error, request: request)
        }
    }

    func request(_ wire: WireMessage.Request, _ body: Data) throws -> HTTPRequest {
        var request = HTTPRequest()
        guard ASCII.isToken(wire.method ?? "GET"), wire.settings.route?.isQuicklyCompared != false else {
            throw WireMessage.Malformed("the method or the route is refused")
        }
        if let method = wire.method { request.method = HTTPMethod(rawValue: method) }
        try wire.target.write(to: &request, route: wire.settings.route)
        request.headers = try HTTPHeaders(pairs: wire.headers)
        if !body.isEmpty { request.body = DataBody(body) }
        try wire.settings.apply(to: &request)
        for (name, value) in wire.options ?? [:] {
            guard let option = options.first(where: { $0.name.isSame(as: name) }) else {
                throw WireMessage.Malformed("the option \(Redaction.visible(name)) is not one that this end carries")
            }
            try option.read(value, &request)
        }
        try request.validateForRelay()
        return request
    }
}

extension HTTPRequest {
    /// Checks the request as a transport does, but doesn't require a host, because the environment at the other end may
    /// add it.
    fileprivate func validateForRelay() throws(HTTPError) {
        var checked = self
        if host == nil { checked.host = "relay.invalid" }
        do { try checked.validate() } catch { throw error.with(request: self) }
    }

    /// Returns whether a text contains a value that the redaction hides. The line feed ends the text, so that the first
    /// bytes of a value at its end don't count.
    func hides(_ text: String) -> Bool { !Redaction.hide(redaction.values, in: text + "\n").isSame(as: text + "\n") }

    func hides(_ field: HTTPHeaders.Field) -> Bool { isSecret(field) || hides(field.value) }
}

// MARK: Responses

extension WireForm {
    func read(_ data: Data, for request: HTTPRequest) throws(HTTPError) -> (message: WireMessage, body: Data) {
        do { return try WireMessage.read(data) } catch { throw request.malformedAnswer(error.description) }
    }

    /// Returns the message for a response, without its body.
    ///
    /// - Parameter received: the request that this end has received. If the chain sent the request to a different URL,
    ///   the message contains that URL. Default: nil (not compared).
    func message(of response: HTTPResponse, to received: HTTPRequest? = nil) -> WireMessage {
        let request = response.request
        let (headers, trailers) = (response.headers, response.trailers)
        let secret = secrets == .refused ? (Array(headers) + trailers).filter { request.hides($0) } : []
        let query = QueryParameters(request.query.filter { secrets == .travel || !request.isSecret($0) })
        let target = WireMessage.Target(request, query: query)
        let isOpen = secrets == .travel || !request.hides("\(target.path)?\(target.query)")
        let isElsewhere = isOpen && received.map { WireMessage.Target($0, query: $0.query) != target } ?? false
        var message = WireMessage()
        message.response = WireMessage.Response(
            status: response.status.code, headers: pairs(of: headers, in: request),
            trailers: trailers.isEmpty ? nil : pairs(of: trailers, in: request),
            headersLeftOut: secret.isEmpty ? nil : secret.map(\.name.rawValue), sentTo: isElsewhere ? target : nil,
            respondingServer: response.respondingServer?.description)
        return message
    }

    func pairs(of fields: HTTPHeaders, in request: HTTPRequest) -> [[String]] {
        HTTPHeaders(fields.filter { secrets == .travel || !request.hides($0) }).pairs
    }

    func response(
        _ answer: (message: WireMessage, body: Data), to request: HTTPRequest
    ) throws(HTTPError) -> HTTPResponse {
        let response = try answer.message.response.map { (wire) throws(HTTPError) in
            try self.response(wire, answer.body, to: request)
        }
        if let failure = answer.message.failure {
            // A code is compared and written to logs, so any other text is only quoted.
            let isName = ASCII.isToken(failure.code) && failure.code.utf8.count <= 100
            let note = isName ? "" : "\(request.redaction.words(failure.code, upTo: 100)), "
            throw HTTPError(
                isName ? HTTPError.Code(rawValue: failure.code) : .unknown, request: response?.request ?? request,
                response: response, message: "at the other end of the relay: \(note)\(failure.message)",
                mayHaveBeenSent: failure.mayHaveBeenSent)
        }
        guard let response else { throw request.malformedAnswer("it contains no response") }
        return response
    }

    private func response(
        _ wire: WireMessage.Response, _ body: Data, to request: HTTPRequest
    ) throws(HTTPError) -> HTTPResponse {
        do throws(WireMessage.Malformed) {
            guard (100...999).contains(wire.status) else {
                throw WireMessage.Malformed("the status is not in 100...999")
            }
            var sent = request
            try wire.sentTo?.write(to: &sent, route: request.path.route)
            var response = HTTPResponse(
                request: sent, status: HTTPStatus(wire.status),
                headers: try HTTPHeaders(pairs: wire.headers, ofResponse: true),
                body: HTTPResponseBody(body))
            if let trailers = wire.trailers {
                response.trailers = try HTTPHeaders(pairs: trailers, ofResponse: true)
            }
            response.respondingServer = try wire.respondingServer.map(HTTPOrigin.init(written:))
            response[option: HeadersLeftOut.self] = try HTTPHeaders.Name.list(wire.headersLeftOut)
            return response
        } catch {
            throw request.malformedAnswer(error.description)
        }
    }

    /// Returns the beginning of a body, at most 1 MiB. If the body can't be read, that isn't an error, because the
    /// error that the message reports matters more.
    private static func beginning(of body: HTTPResponseBody) async -> Data {
        let limit = 1 << 20
        var (data, pieces) = (Data(), body.makeAsyncIterator())
        while data.count < limit, let piece = try? await pieces.next() {
            data.append(piece.prefix(limit - data.count))
        }
        return data
    }

    /// Returns an error as data, with its response and at most 1 MiB of the response body.
    func data(of error: HTTPError, to received: HTTPRequest? = nil) async -> Data {
        var response = error.response
        if let body = response?.body { response?.body = HTTPResponseBody(await Self.beginning(of: body)) }
        var text = error.message
        if let summary = error.underlying.map({ HTTPError.summary(of: $0) }), !text.holds(summary) {
            text += text.isEmpty ? summary : ": \(summary)"
        }
        var message = response.map { self.message(of: $0, to: received) } ?? WireMessage()
        message.failure = WireMessage.Failure(
            code: error.code.rawValue, message: text, mayHaveBeenSent: error.mayHaveBeenSent)
        return message.data(with: response?.body.buffered)
    }
}

extension HTTPRequest {
    func malformedAnswer(_ reason: String) -> HTTPError {
        HTTPError(
            .invalidResponse, request: self,
            message: "the other end of the relay sent a malformed message: \(reason)")
    }
}

private enum HeadersLeftOut: HTTPRequestOption {
    static let defaultOptionValue: [HTTPHeaders.Name] = []
}

extension HTTPResponse {
    /// The secret headers that a ``WireForm`` left out when it wrote the response, because it refuses secrets. They
    /// include the secret trailers unless the body was streamed. Empty for any other response.
    public var headersLeftOut: [HTTPHeaders.Name] { self[option: HeadersLeftOut.self] }
}

// MARK: Settings

extension WireMessage.Settings {
    init(_ request: HTTPRequest) {
        timeout = request.timeout?.wholeMilliseconds
        idleTimeout = request.idleTimeout?.wholeMilliseconds
        connectTimeout = request.connectTimeout?.wholeMilliseconds
        // The deadline may pass while the request is written: then the far end finds it late, instead of invalid.
        deadline = request.timeLeft.map { max(1, $0.wholeMilliseconds) } ?? request.deadline?.wholeMilliseconds
        if request.hasResponseLimit { responseLimit = request.responseLimit }
        acceptedStatuses = request.acceptedStatuses?.ranges.map { [$0.lowerBound, $0.upperBound] }
        if request.isSecret { isSecret = true }
        if request.isSignedOnce { isSignedOnce = true }
        route = request.path.route
        let (redaction, standard) = (request.redaction, Redaction.standard)
        // Values that are marked as secret are secret by name at the other end.
        let headers = redaction.headers.subtracting(standard.headers)
            .union(request.headers.filter(\.isSecret).map(\.name))
        let parameters = redaction.parameters.subtracting(standard.parameters)
            .union(request.query.filter(\.isSecret).map(\.name))
        if !headers.isEmpty { secretHeaders = headers.map(\.rawValue).sorted() }
        if !parameters.isEmpty { secretParameters = parameters.sorted() }
        if !redaction.values.isEmpty { secretValues = redaction.values.map { $0.reveal() }.sorted() }
        if request.isRedirected { removedHeaders = request.removedHeaders.map(\.rawValue).sorted() }
        let bound = request.headers.compactMap { field in field.origin.map { [field.name.rawValue, $0.description] } }
        if !bound.isEmpty { boundHeaders = bound }
    }

    func apply(to request: inout HTTPRequest) throws {
        if let timeout { request.timeout = .milliseconds(timeout) }
        if let idleTimeout { request.idleTimeout = .milliseconds(idleTimeout) }
        if let connectTimeout { request.connectTimeout = .milliseconds(connectTimeout) }
        if let deadline { request.deadline = .milliseconds(deadline) }
        if let responseLimit { request.responseLimit = responseLimit }
        if let isSecret { request.isSecret = isSecret }
        if isSignedOnce == true { request.isSignedOnce = true }
        if let removedHeaders { request.removedHeaders = Set(try HTTPHeaders.Name.list(removedHeaders)) }
        let origins = try HTTPHeaders(pairs: boundHeaders ?? []).map { ($0.name, try HTTPOrigin(written: $0.value)) }
        let bound = Dictionary(origins) { $1 }
        request.headers = HTTPHeaders(
            request.headers.map { .init($0.name, $0.value, isSecret: $0.isSecret, for: bound[$0.name]) })
        guard ((secretParameters ?? []) + (secretValues ?? [])).allSatisfy(\.isQuicklyCompared) else {
            throw WireMessage.Malformed("a secret parameter or value has too many consecutive combining characters")
        }
        if secretHeaders != nil || secretParameters != nil || secretValues != nil {
            request.redaction = .standard.adding(
                headers: Set(try HTTPHeaders.Name.list(secretHeaders)), parameters: Set(secretParameters ?? []),
                values: Set((secretValues ?? []).map { Secret($0) }))
        }
        guard let acceptedStatuses else { return }
        guard acceptedStatuses.allSatisfy({ $0.count == 2 && $0[0] <= $0[1] }) else {
            throw WireMessage.Malformed("a range of accepted statuses must have two numbers in ascending order")
        }
        request.acceptedStatuses = HTTPStatusSet(acceptedStatuses.map { $0[0]...$0[1] })
    }
}

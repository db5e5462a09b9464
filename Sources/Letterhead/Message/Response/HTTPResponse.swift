// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// A response from a server: the status, the headers, the body, and the request that was sent.
///
/// ```swift
/// let response = try await client.sendWithResponse(GetUser(login: "ada")).response
/// print(response.status, response.headers["ETag"] ?? "no ETag")
/// ```
///
/// You get one from ``HTTPClient/sendWithResponse(_:)``, ``HTTPClient/stream(_:)-(Template)`` and
/// ``HTTPClient/download(_:to:)-(Template,_)``. A failed request has it in ``HTTPError/response``. Validators,
/// transformers and links receive one and may change it.
///
/// For a request without a template, the response is what you decode:
///
/// ```swift
/// let request = HTTPRequest(host: "api.example.com", path: "users/ada")
/// let user = try await client.send(request).decode(User.self)
/// ```
///
/// - Loaders and most links return a response with any status. Only the client treats a status as an error.
/// - ``body`` is in memory, unless you stream or download. See <doc:DownloadingAndStreaming>.
/// - ``attempts``, ``redirects`` and ``metrics`` describe how the response came about.
public struct HTTPResponse: Sendable {
    /// A chain copies responses often, so copies share their parts until one changes.
    private struct Parts: Sendable {
        var request: HTTPRequest
        var status: HTTPStatus
        var headers: HTTPHeaders
        var body: HTTPResponseBody
        var attempts: [HTTPRequest.Attempt] = []
        var statusReason: String?
        var values = HTTPRequestOptions()
    }

    @CopyOnWrite private var parts: Parts

    /// Creates a response, for a custom loader or a test.
    public init(
        request: HTTPRequest, status: HTTPStatus, headers: HTTPHeaders = [:],
        body: HTTPResponseBody = HTTPResponseBody()
    ) {
        parts = Parts(request: request, status: status, headers: headers, body: body)
    }

    /// The request that was sent, with all changes that links made.
    ///
    /// Redirects, cookies and caches use its origin. A link that sends a request to a different host than the one it
    /// received therefore restores the scheme, host and port here.
    public var request: HTTPRequest {
        get { parts.request }
        _modify { yield &parts.request }
    }

    /// The final status. Interim statuses are in ``interimResponses``.
    public var status: HTTPStatus {
        get { parts.status }
        _modify { yield &parts.status }
    }

    /// The header fields as they were received, in order, with the changes that links made.
    public var headers: HTTPHeaders {
        get { parts.headers }
        _modify { yield &parts.headers }
    }

    /// The body. Empty if the response has no body.
    public var body: HTTPResponseBody {
        get { parts.body }
        _modify { yield &parts.body }
    }

    /// All attempts that led to this response, in order. The array is empty if no link in the chain records attempts.
    public var attempts: [HTTPRequest.Attempt] {
        get { parts.attempts }
        _modify { yield &parts.attempts }
    }

    /// Why a link returned the response unchanged, to be added to the message of `.unacceptableStatus`. Usually nil.
    var statusReason: String? {
        get { parts.statusReason }
        _modify { yield &parts.statusReason }
    }

    /// A typed value that a loader, a link or a validator has attached to the response, or the default value of the
    /// option.
    public subscript<Key: HTTPRequestOption>(option key: Key.Type) -> Key.Value {
        get { parts.values[option: key] }
        set { parts.values[option: key] = newValue }
    }
}

extension HTTPResponse: CustomStringConvertible, CustomReflectable {
    /// The status, the method and the URL of the request, the headers, and the media type and the length of the body.
    /// Secrets are redacted.
    public var description: String {
        let redaction = request.redaction
        var lines = ["\(status) for \(redaction.requestLine(of: request))"]
        if !headers.isEmpty { lines.append(redaction.text(of: headers)) }
        if body.buffered?.isEmpty != true { lines += ["", Redaction.outline(of: self)] }
        return lines.joined(separator: "\n")
    }

    public var customMirror: Mirror { Mirror(describing: self) }
}

extension HTTPResponse {
    mutating func returnToOrigin(of other: HTTPRequest) {
        (request.scheme, request.host, request.port) = (other.scheme, other.host, other.port)
    }
}

extension HTTPResponse {
    /// The URL of a created resource or of a redirect, from the field `Location` (RFC 9110, 10.2.2).
    ///
    /// ```swift
    /// let created = try await client.sendWithResponse(CreateUser(login: "ada")).response
    /// guard let url = created.location else { … }
    /// let ada = try await client.send(HTTPRequest(url: url)).decode(User.self)
    /// ```
    ///
    /// A relative reference is resolved against the request URL. The property is nil if `Location` is missing or
    /// malformed, or if several fields differ. A server may name any host. The client sends no credentials to a
    /// different origin.
    public var location: URL? {
        locationParts.flatMap { URL(string: $0.string, encodingInvalidCharacters: false) }
    }

    var locationParts: URLParts? {
        let places = headers.values(for: .location)
        guard let place = places.first, places.allSatisfy({ $0.isSame(as: place) }), !place.isEmpty,
            !place.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }), let base = try? request.urlString()
        else { return nil }
        return URLParts(base).resolving(URLParts(place)).escaped(path: .pathLiteral, query: .queryLiteral)
    }
}

private let keptBytes = 1 << 20

extension HTTPResponse {
    var withoutBody: HTTPResponse { changed(self) { $0.body = HTTPResponseBody() } }

    /// Returns the response for an error, with at most 1 MiB of its body in memory.
    func keptInMemory() async -> HTTPResponse {
        var response = self
        response.body = HTTPResponseBody(await body.beginning(isEndless: request.isOpenEnded(after: status)))
        return response
    }

    /// Returns a redirect with its body in memory. Until now, a body over the limit was allowed, because the redirect
    /// could have been followed.
    @inline(__always)
    private func keptInFull(for request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        guard (300..<400).contains(status.code), request.responseDelivery == .buffered, body.buffered == nil else {
            return self
        }
        var response = self
        do { response.body = HTTPResponseBody(try await body.data()) } catch {
            throw HTTPError(error, request: self.request, response: withoutBody)
        }
        return response
    }

    /// Returns this response, or throws if its status isn't accepted.
    ///
    /// - Throws: `.unacceptableStatus`, with the response and at most 1 MiB of its body in memory.
    func accepted(by request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        if request.accepts(status) { return try await keptInFull(for: request) }
        let response = await keptInMemory()
        if Task.isCancelled {
            throw HTTPError(.cancelled, request: self.request, response: response, attempts: attempts)
        }
        let expected = request.acceptedStatuses == nil ? "200–299" : "one of acceptedStatuses"
        var message = "the status is not accepted (expected \(expected))"
        if let statusReason { message += "; \(statusReason)" }
        if [.unauthorized, .forbidden].contains(status), let reason = self.request.unsignedReason {
            message += "; the request was not signed: \(reason)"
        }
        if (400..<500).contains(status.code), let reason = self.request.withheldReason {
            message += "; headers were not sent: \(reason)"
        }
        if status == .notFound, self.request.path.string.holds("%2F") {
            message +=
                "; the path contains %2F, an escaped slash: for several segments, write \\(segments: list) with each of them"
        }
        throw HTTPError(
            .unacceptableStatus, request: self.request, response: response, message: message, attempts: attempts)
    }

    /// Returns the response with the beginning of a streamed body in memory, so that it holds no connection.
    func withoutStream() async -> HTTPResponse { body.buffered == nil ? await keptInMemory() : self }
}

extension HTTPResponseBody {
    /// Returns the first bytes that are available. It ignores body errors, so that they don't hide the status.
    ///
    /// - Parameter isEndless: whether the body may never end. Only the bytes that arrive within five seconds are then
    ///   returned.
    fileprivate func beginning(upTo limit: Int = keptBytes, isEndless: Bool) async -> Data {
        // A copy of the beginning, because a slice would keep the whole body in memory.
        if let buffered { return buffered.count > limit ? Data(buffered.prefix(limit)) : buffered }
        let end = isEndless ? canceller(throwing: CancellationError()) : {}
        let timer = Task { if (try? await Task.sleep(for: .seconds(5))) != nil { end() } }
        defer { timer.cancel() }
        var bytes = GrowingBytes()
        var chunks = makeAsyncIterator()
        while bytes.count < limit, let chunk = try? await chunks.next(), bytes.append(chunk.prefix(limit - bytes.count))
        {}
        return bytes.take()
    }
}

extension HTTPRequest {
    /// One attempt to send a request. The response or the error of a request contains all of them.
    public struct Attempt: Sendable, Hashable, CustomStringConvertible {
        /// The attempt number, counting from 1.
        public var number: Int
        /// The status of the response, or nil if the attempt failed without a response.
        public var status: HTTPStatus?
        /// The error code, or nil if the server responded.
        public var errorCode: HTTPError.Code?
        /// The wait before the next attempt, or nil if no retry followed.
        public var delay: Duration?
        /// The reason for retrying or not retrying, such as the name of the strategy. Empty if there was nothing to
        /// decide.
        public var reason: String

        /// Creates an attempt, for a custom link that retries, or for a test. Pass a status or an error code, and the
        /// reason why a retry follows or not.
        public init(
            number: Int, status: HTTPStatus? = nil, errorCode: HTTPError.Code? = nil, delay: Duration? = nil,
            reason: String = ""
        ) {
            self.number = number
            self.status = status
            self.errorCode = errorCode
            self.delay = delay
            self.reason = reason
        }

        /// The number, the outcome, the delay before a retry, and the reason.
        public var description: String {
            let outcome = status.map(\.description) ?? errorCode?.rawValue ?? "no response"
            return "attempt \(number): \(outcome)" + (delay.map { ", retried after \($0.shown)" } ?? "")
                + (reason.isEmpty ? "" : " (\(reason))")
        }
    }
}

extension HTTPResponse {
    /// The server that responded instead of the request origin, or nil if the origin itself responded.
    ///
    /// A link that chooses a server sets it. If a `nextURL` in the response names this server, the next page is
    /// requested from the origin, so that the link can choose again.
    public var respondingServer: HTTPOrigin? {
        get { self[option: RespondingServer.self] }
        set { self[option: RespondingServer.self] = newValue }
    }
}

extension HTTPResponse {
    /// When a cache received this response from the server, or nil if the response has just arrived from it.
    ///
    /// A cache sets it, so that a signature in the response is verified for the time at which the response was
    /// received.
    public var receivedDate: Date? {
        get { self[option: ReceivedDate.self] }
        set { self[option: ReceivedDate.self] = newValue }
    }
}

extension HTTPResponse {
    /// Whether the body reports a failure although the status doesn't, such as a stream that begins with an `error`
    /// event. Default: false.
    ///
    /// A validator that has looked into the body (``HTTPResponseBody/seen(until:)``) sets it.
    /// ``HTTPRetryStrategy/retryingRefusals()`` and ``Retry/Budget`` then treat the response as a failure.
    public var reportsFailure: Bool {
        get { self[option: ReportsFailure.self] }
        set { self[option: ReportsFailure.self] = newValue }
    }
}

extension HTTPResponse {
    /// Whether the transport has removed a content coding from the body.
    package var isDecoded: Bool {
        get { self[option: IsDecoded.self] }
        set { self[option: IsDecoded.self] = newValue }
    }
}

private enum IsDecoded: HTTPRequestOption {
    static let defaultOptionValue = false
}

private enum ReportsFailure: HTTPRequestOption {
    static let defaultOptionValue = false
}

private enum ReceivedDate: HTTPRequestOption {
    static let defaultOptionValue: Date? = nil
}

private enum RespondingServer: HTTPRequestOption {
    static let defaultOptionValue: HTTPOrigin? = nil
}

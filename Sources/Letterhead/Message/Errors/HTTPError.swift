// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// The error that a client and a ``SendableRequest`` throw for every failed request.
///
/// ```swift
/// do {
///     _ = try await client.send(GetUser(login: "ada"))
/// } catch let error as HTTPError where error.code == .timedOut {
///     print("no answer in time")
/// } catch let error as HTTPError where error.code == .unacceptableStatus {
///     print(error.response?.status == 500 ? "the server broke" : "the server refused")
/// } catch is CancellationError {
///     print("this task was cancelled")
/// }
/// ```
///
/// Look at the ``code`` to decide what to do. The only other error to catch is `CancellationError`: your own task was
/// cancelled.
///
/// ## Log an error
///
/// Log the description. It is one line with what failed, where, and what to do:
///
/// ```swift
/// catch let error as HTTPError { logger.error("\(error)") }
/// ```
///
/// It contains no secrets and no query values. From a body, it contains only the short explanation that the server
/// gave, or the first words where JSON was expected.
///
/// ## Find the cause
///
/// - ``request`` is the request that failed, and ``response`` is the response if one arrived.
/// - ``failure(of:)`` decodes the error body that an endpoint declares.
/// - ``attempts`` lists every attempt, with the reason for retrying or not.
/// - ``underlying`` is the original error if a different component threw one, such as a decoder.
///
/// Loaders and links throw no other type. To them, a cancellation is ``Code/cancelled``. <doc:HandlingErrors> describes
/// what to do for each code.
public struct HTTPError: Error, Sendable {
    /// A class, so that an error is cheap to rethrow along a chain.
    private final class Contents: HTTPErrorContents {
        let code: Code
        let request: HTTPRequest
        let response: HTTPResponse?
        let underlying: (any Error)?
        let message: String
        let attempts: [HTTPRequest.Attempt]
        let mayHaveBeenSent: Bool

        init(
            code: Code, request: HTTPRequest, response: HTTPResponse?, underlying: (any Error)?, message: String,
            attempts: [HTTPRequest.Attempt], mayHaveBeenSent: Bool
        ) {
            (self.code, self.request, self.response) = (code, request, response)
            (self.underlying, self.message) = (underlying, message)
            (self.attempts, self.mayHaveBeenSent) = (attempts, mayHaveBeenSent)
        }
    }

    /// An existential instead of the class: the compiler (6.3.1) fails at `catch let error as HTTPError` around a call
    /// with typed throws if the error is a plain reference.
    private let contents: any HTTPErrorContents

    /// Creates an error, for example in a custom loader or link. Control characters in the message are escaped.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - request: the request that failed.
    ///   - response: the response, or the part of it that has arrived. Default: nil (none has).
    ///   - underlying: the error that a different component threw, such as a decoder or the system. Default: nil.
    ///   - message: the cause and the remedy, without secrets.
    ///   - attempts: the attempts so far. Default: nil (``HTTPResponse/attempts``).
    ///   - mayHaveBeenSent: false only if it is certain that nothing was sent. Default: nil (false for
    ///     ``Code/invalidRequest``, otherwise true).
    public init(
        _ code: Code, request: HTTPRequest, response: HTTPResponse? = nil, underlying: (any Error)? = nil,
        message: String = "", attempts: [HTTPRequest.Attempt]? = nil, mayHaveBeenSent: Bool? = nil
    ) {
        contents = Contents(
            code: code, request: request, response: response, underlying: underlying,
            message: Redaction.visible(Redaction.hide(request.redaction.values, in: message)),
            attempts: attempts ?? response?.attempts ?? [],
            mayHaveBeenSent: mayHaveBeenSent ?? (code != .invalidRequest))
    }

    /// The kind of failure. Use it to decide what to do. The ``message`` is for people.
    public var code: Code { contents.code }

    /// The failed request. It contains the changes that links had made to it before the failure.
    public var request: HTTPRequest { contents.request }

    /// The response, or the part of it that arrived. Nil if none did.
    ///
    /// The body is in memory. If the status isn't accepted, it is at most the first 1 MiB.
    public var response: HTTPResponse? { contents.response }

    /// The error that a different component threw, such as a decoder or the system, unchanged. Nil if there is none.
    public var underlying: (any Error)? { contents.underlying }

    /// The cause and the remedy as text, without secrets. Empty if the ``code`` describes the failure completely.
    public var message: String { contents.message }

    /// All attempts to send the request, in order, with the reason for retrying or not. Empty if no link in the chain
    /// records attempts.
    public var attempts: [HTTPRequest.Attempt] { contents.attempts }

    /// Whether the server may have received the request, or some of it.
    ///
    /// It is false only if it's certain that no byte was sent. You can then retry a request with any method.
    public var mayHaveBeenSent: Bool { contents.mayHaveBeenSent }

    /// Returns the error with some values replaced, for a link that knows more than the loader that threw it. Nil
    /// arguments change nothing.
    public func with(
        request: HTTPRequest? = nil, response: HTTPResponse? = nil, attempts: [HTTPRequest.Attempt]? = nil,
        mayHaveBeenSent: Bool? = nil
    ) -> HTTPError {
        HTTPError(
            code, request: request ?? self.request, response: response ?? self.response, underlying: underlying,
            message: message, attempts: attempts ?? self.attempts,
            mayHaveBeenSent: mayHaveBeenSent ?? self.mayHaveBeenSent)
    }
}

private protocol HTTPErrorContents: Sendable {
    var code: HTTPError.Code { get }
    var request: HTTPRequest { get }
    var response: HTTPResponse? { get }
    var underlying: (any Error)? { get }
    var message: String { get }
    var attempts: [HTTPRequest.Attempt] { get }
    var mayHaveBeenSent: Bool { get }
}

extension HTTPError: LocalizedError, CustomStringConvertible, CustomReflectable {
    /// One line: the code, the method, the URL with its query names, the status, the ``requestID``, the number of
    /// attempts if there are several, the message, a summary of the underlying error, and the explanation that the
    /// server gave.
    ///
    /// The summary of the underlying error depends on its type:
    /// - an ``HTTPError``: its description
    /// - a coding error: the path and the reason
    /// - an error of Foundation: its cause
    /// - any other error: `LocalizedError.errorDescription`, which must not contain secrets. Without it, the name of
    ///   the type and, for an enum, the case.
    ///
    /// For a status of 300 or more and for a ``Code/reportedFailure``, the explanation is one of these:
    /// - a body of type `text/plain`
    /// - members of a JSON body that hold a message, such as title and detail (RFC 9457)
    /// - the code and the message of an XML error from an object store
    /// - for a 401, also the `WWW-Authenticate` field
    ///
    /// It is limited to 200 characters and escaped. It contains no request credentials, no secret values, and nothing
    /// that may be a token. If ``RequestSettings/isSecret`` is true, it is left out.
    public var description: String { text(inside: nil) }

    /// - Parameter outer: the error that contains this one. If both have the same request, the outer error already
    ///   describes it.
    private func text(inside outer: HTTPError?) -> String {
        let isKnown = outer.map { $0.request.outline.isSame(as: request.outline) } ?? false
        let isAnswered = isKnown && outer?.response?.status == response?.status
        var text = "\(code)"
        if !isKnown { text += ": \(request.outline)" }
        if let response, !isAnswered { text += " answered \(response.status)" }
        if let requestID, !isAnswered { text += " (request \(requestID))" }
        if attempts.count > 1, !isKnown { text += " after \(attempts.count) attempts" }
        if !message.isEmpty { text += ": \(message)" }
        if let inner = underlying as? HTTPError {
            // A message that contains the description of an error contains its beginning.
            if !message.holds("\(inner.code): \(inner.request.outline)") { text += ": \(inner.text(inside: self))" }
        } else if let underlying, !(underlying is DecodingError && message.holds("decoding ")) {
            let summary = Self.summary(of: underlying)
            if !message.holds(summary) { text += ": \(summary)" }
        }
        let words = isAnswered ? nil : response?.refusal(of: request, isReported: code == .reportedFailure)
        if let words, !text.holds(words) { text += "; \(words)" }
        return Redaction.hide(request.redaction.values, in: text)
    }

    /// The ``description``, which Foundation returns as `localizedDescription`.
    public var errorDescription: String? { description }

    public var customMirror: Mirror { Mirror(describing: self) }
}

extension HTTPError {
    /// The error for public functions to throw: `CancellationError` if the calling task was cancelled, otherwise this
    /// error.
    var orCancellation: any Error { code == .cancelled && Task.isCancelled ? CancellationError() : self }

    /// The path without its values, such as `users/{}/followers`, for metrics. It is nil for a request that was created
    /// from a URL. See ``RequestPath/route``.
    public var route: String? { request.observation?.route ?? request.path.route }
}

extension HTTPError {
    private static let requestIDNames: [HTTPHeaders.Name] = [
        "X-Request-ID", "Request-ID", "X-Amzn-RequestId", "X-Amz-Request-Id", "X-GitHub-Request-Id", "X-MS-Request-Id",
        "Apigw-RequestId", "CF-Ray", "X-Correlation-ID",
    ]

    /// The identifier that the server assigned to the request, or nil if the response has none. Quote it when you
    /// contact the server operator.
    ///
    /// It is the first of `X-Request-ID`, `Request-ID`, `X-Amzn-RequestId`, `X-Amz-Request-Id`, `X-GitHub-Request-Id`,
    /// `X-MS-Request-Id`, `Apigw-RequestId`, `CF-Ray` and `X-Correlation-ID` that consists of 1 to 128 visible ASCII
    /// characters.
    public var requestID: String? {
        guard let headers = response?.headers else { return nil }
        return Self.requestIDNames.lazy.compactMap { headers[$0] }
            .first { (1...128).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
    }
}

extension HTTPError {
    /// The kind of failure, by phase:
    ///
    /// ```
    /// before sending     invalidRequest   cannotAuthenticate   resetInProgress
    /// connecting         cannotConnect   insecureConnection   proxyRefused
    /// exchanging         connectionLost   invalidResponse   responseTooLarge
    /// judging            tooManyRedirects   unacceptableStatus   validationFailed   retriesExhausted
    /// using the body     emptyResponse   cannotDecodeResponse   cannotSaveResponse   paginationLoop   reportedFailure
    /// at any time        timedOut   cancelled   unknown
    /// ```
    ///
    /// Define further codes for your own loaders, and write a `default` when you switch over a code.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The name of the code, such as `timedOut`.
        public let rawValue: String

        /// Declares a code for a custom loader or link: `static let quotaExceeded = Self(rawValue: "quotaExceeded")`.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The name, with control characters escaped.
        public var description: String { Redaction.visible(rawValue) }
    }
}

extension HTTPError.Code {
    /// The request was cancelled, either by its task or by a reset.
    public static let cancelled = Self(rawValue: "cancelled")
    /// Your request breaks a rule, or its body couldn't be encoded. Usually nothing was sent. See
    /// ``HTTPError/mayHaveBeenSent``.
    public static let invalidRequest = Self(rawValue: "invalidRequest")
    /// The server couldn't be reached. Its name wasn't found, it refused the connection, no route exists, or the
    /// connection ended during the TLS handshake.
    public static let cannotConnect = Self(rawValue: "cannotConnect")
    /// An established connection was lost before the exchange was complete. The server may have processed the request.
    /// See ``HTTPError/mayHaveBeenSent``.
    public static let connectionLost = Self(rawValue: "connectionLost")
    /// TLS failed. The certificate isn't trusted, has expired or belongs to a different host, no common version exists,
    /// or the server refused the client certificate. The underlying error has the message from the TLS library.
    public static let insecureConnection = Self(rawValue: "insecureConnection")
    /// The proxy refused to connect to the server with 401, 403 or 407. Check the proxy and its credentials in the
    /// transport settings. See ``HTTPError/proxyStatus``. The libcurl transport reports it, for requests over https.
    public static let proxyRefused = Self(rawValue: "proxyRefused")
    /// The request couldn't be signed. The underlying error tells why: an `HTTPAuthentication.Failure`, or an error
    /// from a provider.
    public static let cannotAuthenticate = Self(rawValue: "cannotAuthenticate")
    /// The request must be signed anew before it's sent again. See ``HTTPRequest/isSignedOnce``. The authentication
    /// link does so, and callers don't get this code.
    public static let signatureSpent = Self(rawValue: "signatureSpent")
    /// A time limit was exceeded. The message names the limit and the phase.
    public static let timedOut = Self(rawValue: "timedOut")
    /// The response violates HTTP or is truncated.
    public static let invalidResponse = Self(rawValue: "invalidResponse")
    /// The response is larger than its limit. See ``RequestSettings/responseLimit``.
    public static let responseTooLarge = Self(rawValue: "responseTooLarge")
    /// The body couldn't be decoded. The underlying error names the place and the reason.
    public static let cannotDecodeResponse = Self(rawValue: "cannotDecodeResponse")
    /// The status isn't one of the accepted statuses. You find the response in ``HTTPError/response``.
    public static let unacceptableStatus = Self(rawValue: "unacceptableStatus")
    /// A validator refused the response. If it did so with an error, that is the underlying error.
    public static let validationFailed = Self(rawValue: "validationFailed")
    /// A body was expected, but the response has none. To allow an empty body, make the response type of the template
    /// optional.
    public static let emptyResponse = Self(rawValue: "emptyResponse")
    /// After at least one retry, a validator asked for one more. It wasn't possible, for example because the request
    /// had reached its maximum number of retries or the retry budget was used up.
    public static let retriesExhausted = Self(rawValue: "retriesExhausted")
    /// There were too many redirects, or they form a loop.
    public static let tooManyRedirects = Self(rawValue: "tooManyRedirects")
    /// The page sequence forms a loop, or there are too many pages or too many empty pages in a row.
    public static let paginationLoop = Self(rawValue: "paginationLoop")
    /// The server reported a failure after an accepted status. It did so in an `error` event of a stream, or in the
    /// body of a response that a signer checks. The failure is the body of ``HTTPError/response``, so that
    /// ``HTTPError/failure(of:)`` decodes it.
    public static let reportedFailure = Self(rawValue: "reportedFailure")
    /// The request began during a reset of its client or chain. Nothing was sent. You can send it again after the
    /// reset.
    public static let resetInProgress = Self(rawValue: "resetInProgress")
    /// The response couldn't be written to its file. If the destination can't be used at all, nothing was sent. See
    /// ``HTTPResponse/Delivery/file(_:)``.
    public static let cannotSaveResponse = Self(rawValue: "cannotSaveResponse")
    /// A mock or a recording has no response for the request. Nothing was sent.
    public static let unexpectedRequest = Self(rawValue: "unexpectedRequest")
    /// Any other failure. See the underlying error.
    public static let unknown = Self(rawValue: "unknown")
}

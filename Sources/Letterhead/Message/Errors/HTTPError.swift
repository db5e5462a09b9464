public import Foundation

/// Why a request failed: the one error of the library.
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
/// A client and ``SendableRequest`` throw it for everything but the cancelling of the calling task, which is
/// `CancellationError`; loaders and links throw nothing else.
///
/// It carries the request, the response when there was one, every attempt that was made, and the error underneath when
/// another component threw one. Its description says what failed, where, and what to do; it holds no secret, no body and
/// no query value.
public struct HTTPError: Error, Sendable {
    /// The contents are behind one reference, so that throwing costs little along a chain.
    private final class Contents: HTTPErrorContents {
        let code: Code
        let request: HTTPRequest
        let response: HTTPResponse?
        let underlying: (any Error)?
        let message: String
        let attempts: [HTTPAttempt]
        let mayHaveBeenSent: Bool

        init(
            code: Code, request: HTTPRequest, response: HTTPResponse?, underlying: (any Error)?, message: String,
            attempts: [HTTPAttempt], mayHaveBeenSent: Bool
        ) {
            (self.code, self.request, self.response) = (code, request, response)
            (self.underlying, self.message) = (underlying, message)
            (self.attempts, self.mayHaveBeenSent) = (attempts, mayHaveBeenSent)
        }
    }

    /// An existential and not the class itself: the compiler (6.3.1) stops at `catch let error as HTTPError` around a call
    /// that throws nothing else, when the error is a plain reference.
    private let contents: any HTTPErrorContents

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: what happened.
    ///   - request: the request that failed.
    ///   - response: what had arrived of the response. Default: nil.
    ///   - underlying: the error that another component threw. Default: nil.
    ///   - message: what was wrong and what to do, without secrets; control characters are escaped. Default: empty.
    ///   - attempts: the attempts made. Default: those of the response, if there is one.
    ///   - mayHaveBeenSent: false when it is certain that no byte of the request left. Default: what the code tells.
    public init(
        _ code: Code, request: HTTPRequest, response: HTTPResponse? = nil, underlying: (any Error)? = nil,
        message: String = "", attempts: [HTTPAttempt]? = nil, mayHaveBeenSent: Bool? = nil
    ) {
        contents = Contents(
            code: code, request: request, response: response, underlying: underlying,
            message: Redaction.visible(message), attempts: attempts ?? response?.attempts ?? [],
            mayHaveBeenSent: mayHaveBeenSent ?? (code != .invalidRequest))
    }

    /// What happened.
    public var code: Code { contents.code }

    /// The request that failed.
    public var request: HTTPRequest { contents.request }

    /// The response, whole or as far as it had arrived; its body is in memory and bounded.
    public var response: HTTPResponse? { contents.response }

    /// The error that another component threw, unchanged.
    public var underlying: (any Error)? { contents.underlying }

    /// What was wrong and what to do, without secrets.
    public var message: String { contents.message }

    /// Every attempt that was made, in order.
    public var attempts: [HTTPAttempt] { contents.attempts }

    /// False when it is certain that no byte of the request left, so that any method may be tried again.
    public var mayHaveBeenSent: Bool { contents.mayHaveBeenSent }

    /// The same error with something changed; nil keeps what there is.
    public func with(
        request: HTTPRequest? = nil, response: HTTPResponse? = nil, attempts: [HTTPAttempt]? = nil,
        mayHaveBeenSent: Bool? = nil
    ) -> HTTPError {
        HTTPError(
            code, request: request ?? self.request, response: response ?? self.response, underlying: underlying,
            message: message, attempts: attempts ?? self.attempts,
            mayHaveBeenSent: mayHaveBeenSent ?? self.mayHaveBeenSent)
    }
}

/// What an error holds.
private protocol HTTPErrorContents: Sendable {
    var code: HTTPError.Code { get }
    var request: HTTPRequest { get }
    var response: HTTPResponse? { get }
    var underlying: (any Error)? { get }
    var message: String { get }
    var attempts: [HTTPAttempt] { get }
    var mayHaveBeenSent: Bool { get }
}

extension HTTPError: LocalizedError, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What failed, where, and what to do, on one line: the code, the method, the URL with the names of its query items,
    /// the status, the message, and the message of the error underneath.
    ///
    /// Of an error of another component it repeats `LocalizedError.errorDescription`, in which you must not put secrets; any
    /// other error is named by its type.
    public var description: String {
        let shown = request.shown
        var text = "\(code): \(shown.method.shown) \(request.redaction.outline(of: shown))"
        if let response { text += " answered \(response.status)" }
        if let requestID { text += " (request \(requestID))" }
        if attempts.count > 1 { text += " after \(attempts.count) attempts" }
        if !message.isEmpty { text += ": \(message)" }
        guard let underlying else { return text }
        let summary = Self.summary(of: underlying)
        return message.contains(summary) ? text : text + ": \(summary)"
    }

    /// The same as ``description``, for `localizedDescription`.
    public var errorDescription: String? { description }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The description only, so that no dump prints a secret.
    public var customMirror: Mirror { Mirror(describing: self) }
}

extension HTTPError {
    private static let requestIDNames: [HTTPHeaders.Name] = [
        "X-Request-ID", "Request-ID", "X-Amzn-RequestId", "X-Amz-Request-Id", "X-GitHub-Request-Id", "X-MS-Request-Id",
        "Apigw-RequestId", "CF-Ray", "X-Correlation-ID",
    ]

    /// The identifier that the server has given to the request, to be quoted when you ask its operator; nil when the response
    /// has none.
    ///
    /// It is the first of `X-Request-ID`, `Request-ID`, `X-Amzn-RequestId`, `X-Amz-Request-Id`, `X-GitHub-Request-Id`,
    /// `X-MS-Request-Id`, `Apigw-RequestId`, `CF-Ray` and `X-Correlation-ID` that is one to 128 visible ASCII characters.
    public var requestID: String? {
        guard let headers = response?.headers else { return nil }
        return Self.requestIDNames.lazy.compactMap { headers[$0] }
            .first { (1...128).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
    }
}

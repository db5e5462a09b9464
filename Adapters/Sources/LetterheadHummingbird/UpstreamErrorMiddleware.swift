// SPDX-License-Identifier: MIT
public import Hummingbird
public import Letterhead
import LetterheadResilience
import LetterheadServiceLifecycle
import Logging

/// If a request that a handler sends to an upstream server has failed, responds with a gateway status, and logs the
/// error.
///
/// ```swift
/// router.add(middleware: UpstreamErrorMiddleware(passingOn: [.notFound]))
/// ```
///
/// Add it after the middlewares that observe responses, such as `TracingMiddleware` and `MetricsMiddleware`, so that
/// they see the status. Errors that aren't an `HTTPError` of Letterhead pass through.
/// `Hummingbird.HTTPError(upstream:)` lists the statuses.
public struct UpstreamErrorMiddleware<Context: RequestContext>: RouterMiddleware {
    private let passedOn: HTTPStatusSet

    /// Creates a middleware.
    ///
    /// - Parameter statuses: the statuses of an upstream response that the caller receives unchanged, but without the
    ///   body. Default: none.
    public init(passingOn statuses: HTTPStatusSet = []) { passedOn = statuses }

    /// Calls the next handler, and turns an error of Letterhead into a gateway response.
    @concurrent
    public func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as Letterhead.HTTPError {
            var answer = Hummingbird.HTTPError(upstream: error)
            let status = error.code == .unacceptableStatus ? error.response?.status : nil
            let isExpected = status.map(passedOn.contains) ?? false
            if isExpected, let status { answer.status = .init(code: status.code) }
            context.logger.log(level: isExpected ? .info : .error, "\(error)")
            throw answer
        }
    }
}

extension Hummingbird.HTTPError {
    /// Creates the error with which a gateway responds if its request to an upstream server has failed (RFC 9110,
    /// 15.6).
    ///
    /// It has no body, so nothing that the upstream has sent reaches the caller.
    ///
    /// | Status | Cause |
    /// |---|---|
    /// | 504 | a time limit, such as the deadline of the caller, or a 504 of the upstream |
    /// | 503 | a 429, 503 or 529 of the upstream, an open circuit, a full queue, a reset, or a shutdown |
    /// | 500 | a fault of this program: a request that can't be sent, or a file that can't be written |
    /// | 502 | everything else, such as no connection, a broken response or any other status |
    ///
    /// If the upstream has refused the request with a `Retry-After`, a 503 has one as well: in seconds, rounded up, and
    /// at most an hour.
    public init(upstream error: Letterhead.HTTPError) {
        let refused = [.unacceptableStatus, .retriesExhausted].contains(error.code) ? error.response : nil
        switch (error.code, refused?.status.code) {
        case (.timedOut, _), (_, 504): self.init(.gatewayTimeout)
        case (_, 429), (_, 503), (_, 529):
            self.init(.serviceUnavailable)
            headers[.retryAfter] = refused?.headers.retryAfter().map { delay in
                let (seconds, attoseconds) = min(delay, .seconds(3_600)).components
                return "\(seconds + (attoseconds > 0 ? 1 : 0))"
            }
        case (.circuitOpen, _), (.queueFull, _), (.resetInProgress, _), (.cancelled, _), (.shuttingDown, _):
            self.init(.serviceUnavailable)
        case (.invalidRequest, _), (.cannotSaveResponse, _): self.init(.internalServerError)
        default: self.init(.badGateway)
        }
    }
}

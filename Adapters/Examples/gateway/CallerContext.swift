// SPDX-License-Identifier: MIT
import HTTPTypes
import Hummingbird
import Letterhead
import LetterheadServiceLifecycle
import Logging

/// Makes the caller's trace and time limit apply to the requests that are sent while a request is handled, and responds
/// to their failures.
struct CallerContext<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let trace = request.header("traceparent").flatMap {
            TraceContext(
                traceparent: $0, tracestate: request.header("tracestate"), baggage: request.header("baggage"))
        }
        return try await Caller.$timeLeft.withValue(
            request.header(HTTPHeaders.Name.timeLeft.rawValue).flatMap { Int($0) }
        ) {
            try await TraceContext.$current.withValue(trace) {
                do { return try await next(request, context) } catch let error as HTTPError {
                    let isExpected = error.code == .cancelled || error.gatewayStatus == .notFound
                    context.logger.log(level: isExpected ? .info : .error, "\(error)")
                    throw Hummingbird.HTTPError(error.gatewayStatus)
                }
            }
        }
    }
}

/// What the caller of the gateway waits for.
enum Caller {
    @TaskLocal static var timeLeft: Int?
}

extension HTTPClient {
    /// Limits requests to the time that the caller waits.
    var withinCallersTime: HTTPClient {
        guard let timeLeft = Caller.timeLeft else { return self }
        // A deadline of zero would be the program's mistake, and not the end of the caller's time.
        return deadline(in: .milliseconds(max(timeLeft, 1)))
    }
}

extension Request {
    fileprivate func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }
}

extension HTTPError {
    /// What a gateway responds when its request has failed (RFC 9110, 15.6.3 and 15.6.5).
    var gatewayStatus: HTTPTypes.HTTPResponse.Status {
        switch code {
        case .timedOut: .gatewayTimeout
        case .shuttingDown: .serviceUnavailable
        case .unacceptableStatus where response?.status == .notFound: .notFound
        default: .badGateway
        }
    }
}

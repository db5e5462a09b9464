// SPDX-License-Identifier: MIT
public import Letterhead

extension Retry.Condition {
    /// The outcomes that show that a server is in trouble.
    ///
    /// They are the statuses 500, 502, 503, 504 and 529, a failed or lost connection, an invalid response, and a time
    /// limit that passed. A 429 is not among them, because a server that limits one client is healthy.
    ///
    /// The links in this product use this condition by default.
    public static let serverFailures =
        Retry.Condition.statuses([500, 502, 503, 504, 529])
        || .failures([.cannotConnect, .connectionLost, .insecureConnection, .invalidResponse, .timedOut])
}

/// What the outcome of a request shows about the server.
enum ServerHealth {
    case good, bad
    /// The request did not reach the server, or was cancelled.
    case unknown
}

extension Result where Success == HTTPResponse, Failure == HTTPError {
    /// - Parameter condition: the outcomes that count as failures, or nil for `serverFailures`, the condition for most
    ///   links.
    func health(of request: HTTPRequest, counting condition: Retry.Condition?) -> ServerHealth {
        switch self {
        case .success(let response) where condition == nil && response.status.code < 500: return .good
        case .failure(let error) where error.tellsNothing(of: request): return .unknown
        default:
            let context = Retry.Context(request: request, result: self)
            return (condition ?? .serverFailures).holds(in: context) ? .bad : .good
        }
    }
}

extension HTTPError {
    /// Whether the error shows nothing about the server, because the request didn't reach it or was cancelled. This
    /// includes a deadline that passed before anything was sent: a queue in the client has used up the time.
    fileprivate func tellsNothing(of request: HTTPRequest) -> Bool {
        switch code {
        case .cancelled, .resetInProgress, .invalidRequest, .cannotAuthenticate, .signatureSpent, .queueFull,
            .circuitOpen:
            true
        case .cannotConnect, .insecureConnection: false
        case .timedOut: !mayHaveBeenSent && request.timeLeft.map { $0 <= .zero } ?? false
        default: !mayHaveBeenSent
        }
    }
}

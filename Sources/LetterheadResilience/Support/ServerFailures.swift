// SPDX-License-Identifier: MIT
public import Letterhead

extension Retry.Condition {
    /// The outcomes that show that a server is in trouble: 500, 502, 503, 504 and 529, and no connection, a lost one, an
    /// invalid response, or a time limit that passed.
    ///
    /// It is the default of the links of this product. A 429 is not among them, because a server that limits one client
    /// is well.
    public static let serverFailures =
        Retry.Condition.statuses([500, 502, 503, 504, 529])
        || .failures([.cannotConnect, .connectionLost, .insecureConnection, .invalidResponse, .timedOut])
}

/// What the outcome of an exchange tells about its server.
enum ServerHealth {
    case good, bad
    /// The request did not reach the server, or was cancelled.
    case unknown
}

extension Result where Success == HTTPResponse, Failure == HTTPError {
    func health(of request: HTTPRequest, counting condition: Retry.Condition) -> ServerHealth {
        if case .failure(let error) = self, error.tellsNothing { return .unknown }
        return condition.holds(in: Retry.Context(request: request, result: self)) ? .bad : .good
    }
}

extension HTTPError {
    fileprivate var tellsNothing: Bool {
        switch code {
        case .cancelled, .resetInProgress, .invalidRequest, .cannotAuthenticate, .queueFull, .circuitOpen: true
        default: false
        }
    }
}

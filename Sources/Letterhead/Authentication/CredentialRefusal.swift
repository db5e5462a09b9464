/// Why there is no credential for a request.
package enum CredentialRefusal: Error {
    /// A reset is under way.
    case resetting
    /// A reset came between: the request belongs to who was signed in before.
    case reset
    /// It was asked for too often.
    case tooMany(CredentialLimit)
    /// It was asked for, and could not be had.
    case failed(any Error)
    /// The credential was obtained for this origin, and the request goes to another one.
    case otherOrigin(HTTPOrigin)
    /// The request was cancelled while it waited.
    case left
    /// The request's deadline passed while it waited.
    case late

    /// Whether the one who waited has gone, and the others wait on.
    var isDeparture: Bool {
        switch self {
        case .left, .late: true
        default: false
        }
    }

    /// What the request's caller gets.
    ///
    /// - Parameter response: the 401 for which a credential was asked, in memory; nil when nothing has been sent.
    func error(for request: HTTPRequest, response: HTTPResponse?) -> HTTPError {
        if case .late = self {
            return request.deadlinePassed(
                while: "waiting for credentials", response: response, mayHaveBeenSent: response != nil)
        }
        let (code, underlying, message) = content
        return HTTPError(
            code, request: request, response: response, underlying: underlying, message: message,
            mayHaveBeenSent: response != nil)
    }

    private var content: (HTTPError.Code, (any Error)?, String) {
        switch self {
        case .resetting: (.resetInProgress, nil, "the credentials are being forgotten")
        case .reset: (.cancelled, nil, "the credentials were forgotten while the request was under way")
        case .otherOrigin(let origin):
            Self.content(
                of: HTTPAuthentication.Failure(
                    .originNotAllowed,
                    "the credentials belong to \(origin); to send them to another origin, add it to allowedOrigins"))
        case .left, .late: (.cancelled, nil, "the request was cancelled while it waited for credentials")
        case .tooMany(let limit):
            Self.content(
                of: HTTPAuthentication.Failure(
                    .limitReached,
                    "credentials were requested \(limit.count) times within \(limit.window), the limit: the server refuses "
                        + "the credentials that it has just issued"))
        case .failed(let error) where error.isCancelledRequest:
            (.cancelled, error, "the request for credentials was cancelled")
        case .failed(let error as OAuth2.Failure): Self.content(of: error)
        case .failed(let error as HTTPAuthentication.Failure): Self.content(of: error)
        case .failed(let error):
            (.cannotAuthenticate, error, "could not obtain credentials: \(HTTPError.summary(of: error))")
        }
    }

    private static func content(of failure: any SafelyDescribed) -> (HTTPError.Code, (any Error)?, String) {
        (.cannotAuthenticate, failure, failure.description)
    }
}

extension Error {
    /// Whether it comes from a request that was cancelled: by a reset of what is below, for one.
    fileprivate var isCancelledRequest: Bool {
        let cause = (self as? OAuth2.Failure)?.underlying ?? self
        return (cause as? HTTPError)?.code == .cancelled
    }
}

/// The reason why a request receives no credential.
package enum CredentialRefusal: Error {
    /// A reset is in progress.
    case resetting
    /// A reset has occurred since the request began, so the request may belong to the previous user.
    case reset
    /// Credentials were requested too often.
    case tooMany(CredentialLimit)
    /// The provider failed.
    case failed(any Error)
    /// The credential was obtained for this origin, and the request goes to another one.
    case otherOrigin(HTTPOrigin)
    /// The request was cancelled while it waited.
    case left
    /// The request's deadline passed while it waited.
    case late

    /// Returns the error for the caller of the request.
    ///
    /// - Parameter response: the 401 response because of which a new credential was requested, with its body in memory;
    ///   nil if nothing has been sent.
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
        case .resetting: (.resetInProgress, nil, "a reset of the credentials is in progress; retry after the reset")
        case .reset: (.cancelled, nil, "the credentials were reset while the request was in progress")
        case .otherOrigin(let origin):
            Self.content(
                of: HTTPAuthentication.Failure(
                    .originNotAllowed,
                    "the credentials belong to \(origin); to send them with this request, add its origin to "
                        + "allowedOrigins"))
        case .left, .late: (.cancelled, nil, "the request was cancelled while it waited for credentials")
        case .tooMany(let limit):
            Self.content(
                of: HTTPAuthentication.Failure(
                    .limitReached,
                    "credentials were requested \(limit.count) times within \(limit.window), which is the limit; the "
                        + "server probably refuses the credentials that it issues"))
        case .failed(let error) where error.isCancelledRequest:
            (.cancelled, error, "the request for credentials was cancelled")
        case .failed(let error as HTTPAuthentication.Failure): Self.content(of: error)
        case .failed(let error):
            (.cannotAuthenticate, error, "could not obtain credentials: \(HTTPError.summary(of: error))")
        }
    }

    private static func content(of failure: HTTPAuthentication.Failure) -> (HTTPError.Code, (any Error)?, String) {
        (.cannotAuthenticate, failure, failure.description)
    }
}

extension Error {
    /// Whether the error comes from a cancelled request, for example because the chain below was reset.
    fileprivate var isCancelledRequest: Bool {
        let cause = (self as? HTTPAuthentication.Failure)?.underlying ?? self
        return (cause as? HTTPError)?.code == .cancelled
    }
}

extension HTTPError.Code {
    /// So many wait already that no more may; nothing was sent.
    public static let queueFull = Self(rawValue: "queueFull")
}

/// How the wait of a request ended.
enum TurnOutcome: Sendable {
    /// It is the request's turn.
    case turn
    /// The task was cancelled.
    case cancelled
    /// A reset sent everybody away.
    case reset
    /// The deadline passed, or would.
    case tooLate
    /// So many wait already.
    case full(Int)
    /// The link was given a setting that is none.
    case refused(String)

    /// Why there was no turn.
    func error(for request: HTTPRequest, waitingFor what: String) -> HTTPError {
        switch self {
        case .turn, .cancelled: HTTPError(.cancelled, request: request, mayHaveBeenSent: false)
        case .reset:
            HTTPError(
                .cancelled, request: request, message: "a reset ended the wait for \(what)", mayHaveBeenSent: false)
        case .tooLate: request.deadlinePassed(while: "waiting for \(what)", mayHaveBeenSent: false)
        case .full(let count):
            HTTPError(
                .queueFull, request: request, message: "\(count) requests wait for \(what) already",
                mayHaveBeenSent: false)
        case .refused(let rule): HTTPError(.invalidRequest, request: request, message: rule)
        }
    }
}

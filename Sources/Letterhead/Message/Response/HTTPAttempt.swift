/// One time that a request was sent, as the response or the error of its load tells it.
public struct HTTPAttempt: Sendable, Hashable, CustomStringConvertible {
    /// 1 for the first.
    public var number: Int
    /// How the server answered; nil when it did not.
    public var status: HTTPStatus?
    /// Why it failed; nil when the server answered.
    public var errorCode: HTTPError.Code?
    /// How long was waited behind it; nil when no retry followed.
    public var delay: Duration?
    /// Why it was retried, or why not.
    public var reason: String

    /// Makes a record of an attempt.
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

    /// Number, outcome, and what followed.
    public var description: String {
        let outcome = status.map(\.description) ?? errorCode?.rawValue ?? "no answer"
        return "attempt \(number): \(outcome)" + (delay.map { ", retried after \($0)" } ?? "")
            + (reason.isEmpty ? "" : " (\(reason))")
    }
}

/// A record of one attempt to send a request. The response and the error of a request contain all attempts.
public struct HTTPAttempt: Sendable, Hashable, CustomStringConvertible {
    /// The number of the attempt, starting at 1.
    public var number: Int
    /// The status of the response; nil if the attempt failed.
    public var status: HTTPStatus?
    /// The code of the error; nil if the server responded.
    public var errorCode: HTTPError.Code?
    /// The delay before the next attempt; nil if no retry followed.
    public var delay: Duration?
    /// The reason for retrying or not retrying.
    public var reason: String

    /// Creates a record of an attempt.
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

    /// The number, the outcome, the delay before a retry, and the reason.
    public var description: String {
        let outcome = status.map(\.description) ?? errorCode?.rawValue ?? "no response"
        return "attempt \(number): \(outcome)" + (delay.map { ", retried after \($0)" } ?? "")
            + (reason.isEmpty ? "" : " (\(reason))")
    }
}

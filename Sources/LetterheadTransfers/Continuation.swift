// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// Decides whether and when a transfer continues. It counts the attempts in succession that bring little.
struct Continuation: Sendable {
    /// An attempt that brings fewer bytes counts as unsuccessful. A server could otherwise have a body requested byte
    /// by byte.
    static let enoughBytes = 64 << 10

    private let policy: ContinueBodies
    private let request: HTTPRequest
    /// The statuses after which another attempt may succeed.
    private let temporary: Set<HTTPStatus>
    /// What a retry does, for events, closures and errors.
    private let reason: String
    private let timeline: Timeline
    private(set) var attempts: [HTTPRequest.Attempt] = []
    private var newCount = 0
    private var mayHaveBeenSent = false

    init(
        of request: HTTPRequest, _ policy: ContinueBodies, _ reason: String,
        temporary: Set<HTTPStatus> = Retry.Condition.standardStatuses
    ) {
        (self.request, self.policy, self.reason, self.temporary) = (request, policy, reason, temporary)
        timeline = Timeline(policy.clock)
    }

    /// Counts bytes that the other side has not had before.
    mutating func advance(by count: Int) {
        newCount += count
        if newCount >= Self.enoughBytes { attempts = [] }
    }

    /// Decides about a failure, and counts it.
    ///
    /// - Throws: the failure, or another one that explains more, if no attempt follows. It contains all attempts.
    mutating func retry(after failure: HTTPError) throws(HTTPError) -> Retry.Context {
        newCount = 0
        mayHaveBeenSent = mayHaveBeenSent || failure.mayHaveBeenSent
        var attempt = HTTPRequest.Attempt(
            number: attempts.count + 1, status: failure.response?.status,
            errorCode: failure.response == nil ? failure.code : nil)
        guard failure.isTemporary(temporary) else { throw ended(failure, attempt, "the failure is not temporary") }
        guard attempt.number <= policy.maximumAttempts,
            let planned = policy.strategy.delay(
                before: attempt.number, after: .failure(failure), random: policy.random)
        else { throw ended(failure, attempt, "maximumAttempts or the strategy allows no further attempt") }
        let delay = max(planned, min(failure.response?.headers.retryAfter() ?? .zero, .seconds(120)))
        if let left = request.timeLeft, left <= delay {
            let isOver = failure.code == .timedOut && left <= .zero
            // An error that tells what was running is better.
            let error = isOver ? failure : request.deadlinePassed(while: "waiting to continue the transfer")
            throw ended(error, attempt, "the wait would pass the deadline")
        }
        (attempt.delay, attempt.reason) = (delay, reason)
        attempts.append(attempt)
        return Retry.Context(
            request: request, result: .failure(failure), retry: attempts.count, elapsed: timeline.now,
            attempts: attempts, strategy: policy.strategy, delay: delay)
    }

    /// Without an earlier retry, the failure's own attempts tell more.
    private func ended(_ failure: HTTPError, _ last: HTTPRequest.Attempt, _ rule: String) -> HTTPError {
        guard !attempts.isEmpty else { return failure.with(mayHaveBeenSent: mayHaveBeenSent) }
        var last = last
        last.reason = "not continued: \(rule)"
        return failure.with(attempts: attempts + [last], mayHaveBeenSent: mayHaveBeenSent)
    }
}

extension ContinueBodies {
    /// Tells about a retry, and waits before it.
    func pause(before retry: Retry.Context) async throws(HTTPError) {
        await retry.request.reportRetry(retry)
        if let delay = retry.delay, delay > .zero { try await retry.request.pause(for: delay, on: clock) }
    }
}

extension HTTPError {
    /// Whether another attempt may succeed. If a connection is lost inside a body, the response is incomplete, which is
    /// `.invalidResponse`.
    var isTemporary: Bool { isTemporary(Retry.Condition.standardStatuses) }

    func isTemporary(_ statuses: Set<HTTPStatus>) -> Bool {
        if let status = response?.status, code == .unacceptableStatus || code == .retriesExhausted {
            return statuses.contains(status)
        }
        return Retry.Condition.standardFailures.contains(code) || code == .invalidResponse
    }
}

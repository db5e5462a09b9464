// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// Decides whether and when a transfer continues. It counts the consecutive attempts that bring few new bytes, and the
/// attempts of a `Retry` link below.
struct Continuation: Sendable {
    /// An attempt that brings this many new bytes is successful, and resets the count. With a smaller number, a server
    /// could have a body requested byte by byte.
    static let enoughBytes = 64 << 10

    private let backoff: Backoff
    private let request: HTTPRequest
    /// The statuses after which a new attempt may succeed.
    private let temporary: Set<HTTPStatus>
    /// What a retry is for, such as "the body continues". Events, closures and errors contain it.
    private let reason: String
    private let timeline: Timeline
    private(set) var attempts: [HTTPRequest.Attempt] = []
    private var newCount = 0
    private var mayHaveBeenSent = false

    init(
        of request: HTTPRequest, _ backoff: Backoff, _ reason: String,
        temporary: Set<HTTPStatus> = Retry.Condition.standardStatuses
    ) {
        var backoff = backoff
        (backoff.strategy, backoff.maximumRetries) = (backoff.strategy ?? .exponential, backoff.maximumRetries ?? 5)
        (self.request, self.backoff, self.reason, self.temporary) = (request, backoff, reason, temporary)
        timeline = Timeline(backoff.clock)
    }

    /// Counts bytes that are new to the receiver.
    mutating func advance(by count: Int) {
        newCount += count
        if newCount >= Self.enoughBytes { attempts = [] }
    }

    /// Decides whether a new attempt follows a failure, and counts the failure.
    ///
    /// - Throws: the failure if no attempt follows, or an error that explains more, such as a passed deadline. The
    ///   error contains all attempts.
    mutating func retry(after failure: HTTPError) throws(HTTPError) -> Retry.Context {
        newCount = 0
        mayHaveBeenSent = mayHaveBeenSent || failure.mayHaveBeenSent
        // The attempts of a `Retry` link count as well, so that the two numbers don't multiply. A body that broke off
        // counts as one attempt.
        let isHead = failure.response == nil || [.unacceptableStatus, .retriesExhausted].contains(failure.code)
        for var earlier in isHead ? failure.attempts.dropLast() : [] {
            earlier.number = attempts.count + 1
            attempts.append(earlier)
        }
        var attempt = HTTPRequest.Attempt(
            number: attempts.count + 1, status: failure.response?.status,
            errorCode: failure.response == nil ? failure.code : nil)
        guard failure.isTemporary(statuses: temporary, whileReading: true) else {
            throw ended(failure, attempt, "the failure is not temporary")
        }
        guard let delay = backoff.wait(before: attempt.number, after: failure) else {
            throw ended(failure, attempt, "maximumRetries or the strategy allows no further attempt")
        }
        guard request.hasTime(for: delay) else {
            let isOver = failure.code == .timedOut && !request.hasTime(for: .zero)
            let late = request.deadlinePassed(while: "waiting to continue the transfer")
            // The failure describes what was running when the deadline passed, so it is thrown unchanged.
            throw ended(
                isOver ? failure : late.with(attempts: failure.attempts), attempt, "the wait would pass the deadline")
        }
        (attempt.delay, attempt.reason) = (delay, reason)
        attempts.append(attempt)
        return Retry.Context(
            request: request, result: .failure(failure), retry: attempts.count, elapsed: timeline.now,
            attempts: attempts, strategy: backoff.strategy, delay: delay)
    }

    /// Adds the attempts to a failure. If the transfer was never continued, the failure keeps its attempts, which tell
    /// more.
    private func ended(_ failure: HTTPError, _ last: HTTPRequest.Attempt, _ rule: String) -> HTTPError {
        if !attempts.contains(where: { $0.reason == reason }) { return failure.with(mayHaveBeenSent: mayHaveBeenSent) }
        var last = last
        last.reason = "not continued: \(rule)"
        return failure.with(attempts: attempts + [last], mayHaveBeenSent: mayHaveBeenSent)
    }
}

extension Backoff {
    /// Runs work that loads several responses under one deadline. Without it, the deadline would apply only until the
    /// first response body has ended.
    func loading(
        _ request: HTTPRequest, _ work: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) async throws(HTTPError) -> HTTPResponse {
        if let brokenRule { throw HTTPError(.invalidRequest, request: request, message: brokenRule) }
        return try await Deadline(clock: clock).load(request, next: AnyLoader(work))
    }

    /// Reports a retry to the `onRetry` closures and as an event, and then waits.
    func pause(before retry: Retry.Context) async throws(HTTPError) {
        await retry.request.reportRetry(retry)
        try await pause(retry.request, for: retry.delay ?? .zero)
    }
}

import Foundation

/// The state of one load: the request to send next, and the attempts so far.
struct RetryLoad {
    /// The request, including the changes of the last alternate.
    var request: HTTPRequest
    private(set) var attempts: [HTTPAttempt] = []
    /// The number of alternate requests that the load took part in, by sharing key.
    private(set) var alternates: [HTTPRetryStrategy.Sharing.Key: Int] = [:]
    /// The cost of the last retry that consumed tokens of the budget; nil before the first one.
    private(set) var cost: Double?
    /// Whether a byte of any attempt may have been sent.
    private(set) var mayHaveBeenSent = false
    let maximum: Int
    /// Whether a retry link further up retries this load.
    let isNested: Bool
    private let start: Duration
    private let timeline: Timeline

    /// Begins a load, with one idempotency key for all attempts.
    ///
    /// - Throws: `.invalidRequest` if a maximum is negative.
    init(_ request: HTTPRequest, standardMaximum: Int, timeline: Timeline) throws(HTTPError) {
        maximum = request.maximumRetries ?? standardMaximum
        guard maximum >= 0 else {
            throw HTTPError(
                .invalidRequest, request: request, message: "maximumRetries is negative; use 0 for no retries")
        }
        self.request = request
        isNested = request.isAttempt
        self.timeline = timeline
        start = maximum > 0 ? timeline.now : .zero
        if let mark = request.idempotency, !request.headers.contains(.idempotencyKey) {
            self.request.headers[.idempotencyKey] = mark.key ?? ASCII.lowercased(UUID().uuidString)
        }
    }

    /// Whether this link may retry the load.
    var mayRetry: Bool { !isNested && maximum > 0 }

    /// The request for the next attempt. It is marked as being retried by this link, unless no retry is possible.
    var attempt: HTTPRequest {
        guard mayRetry else { return request }
        var attempt = request
        attempt.attemptNumber = attempts.count + 1
        // A retry link further down would call them for each attempt, too.
        if !attempt.context.additions.isEmpty { attempt.context.additions = HTTPRequestOptions() }
        return attempt
    }

    /// Sends the request once. The attempt number is removed from the request of the result, because the caller may
    /// send that request again.
    @inline(__always)
    func send(to next: any HTTPLoader) async -> Result<HTTPResponse, HTTPError> {
        do throws(HTTPError) {
            guard mayRetry else { return .success(try await next.attempt(request)) }
            var response = try await next.attempt(attempt)
            response.request.isAttempt = false
            return .success(response)
        } catch {
            guard mayRetry else { return .failure(error) }
            var request = error.request
            request.isAttempt = false
            return .failure(error.with(request: request))
        }
    }

    /// Returns the context before the decision about a retry.
    func context(after result: Result<HTTPResponse, HTTPError>) -> RetryContext {
        RetryContext(
            request: request, result: result, retry: attempts.count + 1, elapsed: elapsed, attempts: attempts)
    }

    /// Returns the context after the decision for a retry, whose attempt has been recorded.
    func context(of retry: PlannedRetry, after result: Result<HTTPResponse, HTTPError>) -> RetryContext {
        RetryContext(
            request: request, result: result, retry: attempts.count, elapsed: elapsed, attempts: attempts,
            strategy: retry.strategy, delay: retry.delay)
    }

    private var elapsed: Duration { maximum > 0 ? timeline.now - start : .zero }

    /// Records an attempt that is not retried, and the reason.
    mutating func record(_ result: Result<HTTPResponse, HTTPError>, delay: Duration? = nil, reason: String) {
        let (status, code): (HTTPStatus?, HTTPError.Code?)
        switch result {
        case .success(let response):
            mayHaveBeenSent = true
            (status, code) = (response.status, nil)
        case .failure(let failure):
            mayHaveBeenSent = mayHaveBeenSent || failure.mayHaveBeenSent
            (status, code) = (nil, failure.code)
        }
        attempts.append(
            HTTPAttempt(number: attempts.count + 1, status: status, errorCode: code, delay: delay, reason: reason))
    }

    /// Records an attempt that is retried.
    mutating func record(_ result: Result<HTTPResponse, HTTPError>, retriedBy retry: PlannedRetry) {
        record(result, delay: retry.delay, reason: retry.reason)
        cost = retry.cost ?? cost
    }

    /// Counts an alternate request that the load takes part in.
    mutating func count(_ sharing: HTTPRetryStrategy.Sharing) { alternates[sharing.key, default: 0] += 1 }
}

extension Result where Failure == HTTPError {
    /// The error; nil if there is a response.
    var failure: HTTPError? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}

import Foundation

/// One load on its way: what is sent, and how it went so far.
struct RetryLoad {
    /// The request, as the last alternate left it.
    var request: HTTPRequest
    private(set) var attempts: [HTTPAttempt] = []
    /// How many alternates it took part in, by what they are shared with.
    private(set) var alternates: [HTTPRetryStrategy.Sharing.Key: Int] = [:]
    /// What the last retry that drew on the budget cost; nil before the first.
    private(set) var cost: Double?
    /// Whether a byte of any attempt may have left.
    private(set) var mayHaveBeenSent = false
    let maximum: Int
    /// Whether a retry further up retries this load.
    let isNested: Bool
    private let start: Duration
    private let timeline: Timeline

    /// Begins a load, with its key for all attempts.
    ///
    /// - Throws: `.invalidRequest` when a maximum is negative.
    init(_ request: HTTPRequest, standardMaximum: Int, timeline: Timeline) throws(HTTPError) {
        maximum = request.maximumRetries ?? standardMaximum
        guard maximum >= 0 else {
            throw HTTPError(
                .invalidRequest, request: request, message: "maximumRetries is less than zero; 0 is no retry")
        }
        self.request = request
        isNested = request.options.contains(AttemptNumberOption.self)
        self.timeline = timeline
        start = maximum > 0 ? timeline.now : .zero
        if let mark = request.idempotency, !request.headers.contains(.idempotencyKey) {
            self.request.headers[.idempotencyKey] = mark.key ?? UUID().uuidString.lowercased()
        }
    }

    /// The request as it goes out this time; it says that it is under a retry, unless there can be no retry.
    var attempt: HTTPRequest {
        guard !isNested, maximum > 0 else { return request }
        var attempt = request
        attempt[option: AttemptNumberOption.self] = attempts.count + 1
        return attempt
    }

    /// Sends it once. Who gets the result may send its request again, so the number of the attempt is taken off.
    func send(to next: any HTTPLoader) async -> Result<HTTPResponse, HTTPError> {
        let attempt = attempt
        let isMarked = !isNested && attempt.options.contains(AttemptNumberOption.self)
        do throws(HTTPError) {
            var response = try await next.load(attempt)
            if isMarked { response.request.options.remove(AttemptNumberOption.self) }
            return .success(response)
        } catch {
            guard isMarked else { return .failure(error) }
            var request = error.request
            request.options.remove(AttemptNumberOption.self)
            return .failure(error.with(request: request))
        }
    }

    /// What is known behind an attempt.
    func context(after result: Result<HTTPResponse, HTTPError>) -> RetryContext {
        RetryContext(
            request: request, result: result, retry: attempts.count + 1,
            elapsed: maximum > 0 ? timeline.now - start : .zero, earlier: attempts)
    }

    /// Notes an attempt behind which there is no retry, and why not.
    mutating func record(_ result: Result<HTTPResponse, HTTPError>, delay: Duration? = nil, reason: String) {
        let failure = result.failure
        mayHaveBeenSent = mayHaveBeenSent || failure?.mayHaveBeenSent ?? true
        attempts.append(
            HTTPAttempt(
                number: attempts.count + 1, status: (try? result.get())?.status, errorCode: failure?.code,
                delay: delay, reason: reason))
    }

    /// Notes an attempt that is retried.
    mutating func record(_ result: Result<HTTPResponse, HTTPError>, repeatedBy repetition: Repetition) {
        record(result, delay: repetition.delay, reason: repetition.reason)
        cost = repetition.cost ?? cost
    }

    /// Notes that an alternate is taken part in.
    mutating func count(_ sharing: HTTPRetryStrategy.Sharing) { alternates[sharing.key, default: 0] += 1 }
}

extension Result where Failure == HTTPError {
    /// Why it failed; nil when it did not.
    var failure: HTTPError? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}

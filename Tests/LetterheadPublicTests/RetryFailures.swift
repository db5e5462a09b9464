// SPDX-License-Identifier: MIT
import Letterhead

/// A link that retries requests, as `Retry` does: with a maximum, a wait and validators.
struct RetryFailures: LoaderLink {
    private let maximum: Int
    private let wait: Duration
    private let clock: any Clock<Duration>
    private let validators: [any HTTPValidator]
    /// Sent before each retry on behalf of the request, such as a request for a token.
    private let refresh: HTTPRequest?

    init(
        maximum: Int = 2, wait: Duration = .seconds(1), clock: any Clock<Duration> = ContinuousClock(),
        validators: [any HTTPValidator] = [], refresh: HTTPRequest? = nil
    ) {
        (self.maximum, self.wait, self.clock) = (maximum, wait, clock)
        (self.validators, self.refresh) = (validators, refresh)
    }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard request.attemptNumber == nil else { return try await next.load(request) }
        var attempts: [HTTPRequest.Attempt] = []
        while true {
            var attempt = request
            attempt.attemptNumber = attempts.count + 1
            var result = await Self.result(of: attempt, next: next)
            let wantsRetry = try await judge(&result, of: attempt)
            var record = HTTPRequest.Attempt(
                number: attempts.count + 1, status: (try? result.get())?.status, errorCode: result.failure?.code)
            guard wantsRetry, mayRetry(request, after: result, retries: attempts.count) else {
                attempts.append(record)
                return try Self.end(result, with: attempts)
            }
            record.delay = wait
            attempts.append(record)
            request.record("retry.decided") { $0[.isRetried] = true }
            try await pause(before: request, next: next)
        }
    }

    /// Sends one attempt. The request of its result is no attempt any more, because the caller may send it again.
    private static func result(of attempt: HTTPRequest, next: any HTTPLoader) async -> Result<HTTPResponse, HTTPError> {
        do throws(HTTPError) {
            var response = try await next.load(attempt)
            response.request.attemptNumber = nil
            return .success(response)
        } catch {
            var request = error.request
            request.attemptNumber = nil
            return .failure(error.with(request: request))
        }
    }

    /// Returns whether a validator requests a retry, or the attempt failed. Validators see the head of a stream only.
    private func judge(
        _ result: inout Result<HTTPResponse, HTTPError>, of attempt: HTTPRequest
    ) async throws(HTTPError) -> Bool {
        guard case .success(var response) = result else { return result.failure?.code != .cancelled }
        do {
            for validator in validators {
                var shown = response
                shown.body = response.body.withheld()
                switch try await validator.validate(response: shown, forRequest: attempt) {
                case .nextValidator: break
                case .nextValidatorWithResponse(var replacement):
                    replacement.body = replacement.body.released()
                    response = replacement
                    result = .success(response)
                case .failChain(let error): throw error
                case .retry: return true
                }
            }
            return false
        } catch {
            throw HTTPError(error, request: attempt, response: response)
        }
    }

    private func mayRetry(_ request: HTTPRequest, after result: Result<HTTPResponse, HTTPError>, retries: Int) -> Bool {
        guard retries < maximum, request.body.isEmpty || request.body.isReplayable else { return false }
        return request.method.isIdempotent || result.failure?.mayHaveBeenSent == false
    }

    private func pause(before request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) {
        if let left = request.timeLeft, left <= wait { throw request.deadlinePassed(while: "waiting to retry") }
        do { try await clock.sleep(for: wait) } catch { throw HTTPError(error, request: request) }
        guard var refresh else { return }
        refresh.inheritDeadline(from: request)
        refresh.attemptNumber = 1
        _ = try await next.load(refresh)
    }

    private static func end(
        _ result: Result<HTTPResponse, HTTPError>, with attempts: [HTTPRequest.Attempt]
    ) throws(HTTPError) -> HTTPResponse {
        do throws(HTTPError) {
            var response = try result.get()
            response.attempts = attempts
            return response
        } catch {
            throw error.with(attempts: attempts)
        }
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}

// SPDX-License-Identifier: MIT
public import Letterhead

extension HTTPClient {
    /// Sends a template again and again, and returns its first value and then each changed value.
    ///
    /// ```swift
    /// for try await job in client.changes(of: GetJob(id: 7), every: .seconds(2), until: \.isDone) {
    ///     show(job.progress)
    /// }
    /// ```
    ///
    /// Use it to wait for a job, or to show the state of something that has no event stream. The sequence ends after
    /// the first value for which `until` returns true, and after an error.
    ///
    /// - If a response has an `ETag` or a `Last-Modified`, the next request is conditional (RFC 9110, 13.1), so that a
    ///   server can respond with 304 and no body.
    /// - Only the first request can be answered from a cache. The cache doesn't store the responses to later requests.
    /// - If a request fails with a temporary error (`HTTPError.isTemporary`), it is sent again, with growing waits.
    /// - After `reset()`, the error is `.cancelled`.
    ///
    /// - Parameters:
    ///   - template: the request. If its method isn't idempotent, the sequence throws `.invalidRequest`, unless you
    ///     mark the template with `RequestTemplate.idempotent(key:)` or set `allowsAnyMethod` in the reconnection.
    ///   - interval: the wait after a request has ended, before the next one starts. A longer `Retry-After` takes
    ///     precedence, up to `Backoff.longestServerDelay`. If the interval is zero or less, the sequence throws
    ///     `.invalidRequest`.
    ///   - isLast: whether a value is the last one. Default: never (the sequence ends when you leave the loop).
    ///   - reconnection: what happens after a failed request, the deadline for the whole sequence, and the clock.
    ///     Default: at most 5 retries in a row, and no deadline.
    public func changes<Template: RequestTemplate>(
        of template: Template, every interval: Duration,
        until isLast: @escaping @Sendable (Template.Response) -> Bool = { _ in false },
        reconnecting reconnection: Reconnection = .whenClosed(Backoff(maximumRetries: 5))
    ) -> some AsyncSequence<Template.Response, any Error> & Sendable where Template.Response: Equatable {
        ChangeSequence(
            client: self, template: template, interval: interval, isLast: isLast, reconnection: reconnection)
    }
}

/// A template that returns nil if the server responds with 304, because the value has not changed.
private struct ConditionalTemplate<Base: RequestTemplate>: RequestDecorator {
    let base: Base
    /// The response headers that contain the validators for the condition. Nil for the first request.
    let earlier: HTTPHeaders?

    /// Later requests bypass the cache, because a fresh stored response would hide a change.
    var options: HTTPRequestOptions {
        var options = base.options
        if earlier != nil { options.isLiveStream = true }
        return options
    }

    var headers: HTTPHeaders {
        var headers = base.headers
        if let tag = earlier?[.eTag], !headers.contains(.ifNoneMatch) { headers[.ifNoneMatch] = tag }
        if let date = earlier?[.lastModified], !headers.contains(.ifModifiedSince) { headers[.ifModifiedSince] = date }
        return headers
    }

    func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse {
        let response: HTTPResponse?
        switch result {
        case .success(let accepted): response = accepted
        case .failure(let error): response = error.code == .unacceptableStatus ? error.response : nil
        }
        if earlier != nil, let response, response.status == .notModified { return response }
        return try await base.finish(result)
    }

    func decode(_ response: HTTPResponse) async throws -> Base.Response? {
        if earlier != nil, response.status == .notModified { return nil }
        return .some(try await base.decode(response))
    }
}

private struct ChangeSequence<Template: RequestTemplate>: AsyncSequence, Sendable
where Template.Response: Equatable {
    let client: HTTPClient
    let template: Template
    let interval: Duration
    let isLast: @Sendable (Template.Response) -> Bool
    let reconnection: Reconnection

    func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

    struct Iterator: AsyncIteratorProtocol {
        private let sequence: ChangeSequence
        /// Nil before the first request.
        private var series: RequestSeries?
        private var last: Template.Response?
        private var earlier: HTTPHeaders?
        /// The wait before the next request. Nil before the first one.
        private var wait: Duration?
        /// The number of failures since the last response.
        private var failures = 0
        private var failure: HTTPError?
        private var isAtEnd = false

        init(sequence: ChangeSequence) { self.sequence = sequence }

        mutating func next(isolation actor: (any Actor)?) async throws -> Template.Response? { try await next() }

        mutating func next() async throws -> Template.Response? {
            guard !isAtEnd else { return nil }
            do {
                let value = try await change()
                isAtEnd = sequence.isLast(value)
                return value
            } catch {
                isAtEnd = true
                throw (error as? HTTPError)?.orCancellation ?? error
            }
        }

        private mutating func change() async throws -> Template.Response {
            let series = try begun()
            while true {
                if let wait {
                    let request = try series.request(for: sequence.template)
                    do { try await series.pause(for: wait, after: failure, before: request) } catch let error
                        as HTTPError
                    {
                        throw error.with(mayHaveBeenSent: true)
                    }
                }
                do {
                    let template = ConditionalTemplate(base: sequence.template, earlier: earlier)
                    let (value, response) = try await series.client.sendWithResponse(template)
                    (failures, failure) = (0, nil)
                    let asked = sequence.reconnection.backoff.serverDelay(in: response) ?? .zero
                    wait = Swift.max(sequence.interval, asked)
                    guard let value else { continue }
                    earlier = response.headers
                    if let last, last == value { continue }
                    last = value
                    return value
                } catch let error as HTTPError where sequence.reconnection.isEnabled && error.isTemporary() {
                    failures += 1
                    let pause = sequence.reconnection.backoff.wait(before: failures, after: error)
                    guard let pause else { throw error }
                    (wait, failure) = (Swift.max(pause, sequence.interval), error)
                }
            }
        }

        /// - Throws: `.invalidRequest` if a setting is invalid, or if the request must not be sent again.
        private mutating func begun() throws -> RequestSeries {
            if let series { return series }
            let (reconnection, interval) = (sequence.reconnection, sequence.interval)
            let series = sequence.client.series(
                within: reconnection.deadline, kind: "change", clock: reconnection.backoff.clock)
            let request = try series.request(for: sequence.template)
            let rule =
                interval <= .zero ? "the interval of changes(of:every:) is zero or less" : reconnection.brokenRule
            let repeats =
                "changes(of:every:) sends the request again, and \(request.method.printable) is not idempotent "
            let isRepeatable = reconnection.allowsRepeating(request)
            if let rule = rule ?? (isRepeatable ? nil : repeats + "(mark the template with idempotent(key: .none))") {
                throw HTTPError(.invalidRequest, request: request, message: rule, mayHaveBeenSent: false)
            }
            self.series = series
            return series
        }
    }
}

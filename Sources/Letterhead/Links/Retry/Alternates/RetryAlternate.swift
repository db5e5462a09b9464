// SPDX-License-Identifier: MIT
import LetterheadFoundation

extension HTTPRetryStrategy {
    /// Sends a template, decodes its response, then waits, and then retries the original.
    ///
    /// The client of the original sends the template with its own settings and its own decoder. The template's request
    /// passes through the links below the retry. It isn't validated or retried, and doesn't count as an attempt. It must
    /// meet its own deadline and the original's. Each request sends its own alternate; for a token that many requests
    /// share, use a ``CredentialProvider`` (``HTTPAuthentication/bearer(allowedOrigins:limit:per:clock:asking:)``).
    ///
    /// The template is sent only after a response of the client's own server (``HTTPRequest/homeOrigin``), in the
    /// environment of the template or else of the client, even if the original has another one. Without a client, the
    /// environment of the original counts as home; without any, the server of the template does. After a response of
    /// another server, the original is retried unchanged.
    ///
    /// - Parameters:
    ///   - template: the alternate request.
    ///   - delay: the wait before the original is retried. A negative wait counts as zero.
    ///   - onValue: receives the decoded response, and may change the original for its next attempts.
    ///   - onError: receives an error of the template or of `onValue`, such as a status that isn't accepted. The caller
    ///     doesn't get it. The original is then retried unchanged.
    public static func after<Template: RequestTemplate>(
        _ template: Template, delay: Duration = .zero,
        onValue: @escaping @Sendable (_ original: inout HTTPRequest, Template.Response) async throws -> Void,
        onError: @escaping @Sendable (any Error) async -> Void = { _ in }
    ) -> HTTPRetryStrategy {
        preparing("after another request", delay: delay, onError: onError) { original, result, send in
            guard let request = try template.request(onBehalfOf: original, after: result) else { return }
            let value = try await template.value(of: try await send(request))
            try await onValue(&original, value)
        }
    }

    /// Sends a plain request, with the other parameters of ``after(_:delay:onValue:onError:)``. `request` creates it from
    /// the original; if it returns nil, nothing is sent before the retry. `onResponse` receives a response of any
    /// status, and may change the original.
    public static func after(
        _ request: @escaping @Sendable (_ original: HTTPRequest) async throws -> HTTPRequest?, delay: Duration = .zero,
        onResponse: @escaping @Sendable (_ original: inout HTTPRequest, _ answer: HTTPResponse) async throws -> Void,
        onError: @escaping @Sendable (any Error) async -> Void = { _ in }
    ) -> HTTPRetryStrategy {
        preparing("after another request", delay: delay, onError: onError) { original, _, send in
            guard let request = try await request(original) else { return }
            let answer = try await send(request)
            try await onResponse(&original, answer)
        }
    }

    /// Runs a task, which may change the original for its next attempts, then waits, and then retries it. A negative
    /// `delay` counts as zero. `onError` receives the error of the task; the original is then retried unchanged.
    public static func afterTask(
        delay: Duration = .zero, task: @escaping @Sendable (inout HTTPRequest) async throws -> Void,
        onError: @escaping @Sendable (any Error) async -> Void = { _ in }
    ) -> HTTPRetryStrategy {
        preparing("after a task", delay: delay, onError: onError) { original, _, _ in try await task(&original) }
    }

    private static func preparing(
        _ name: String, delay: Duration, onError: @escaping @Sendable (any Error) async -> Void,
        _ prepare: @escaping RetryAlternate.Prepare
    ) -> HTTPRetryStrategy {
        HTTPRetryStrategy(name, alternate: RetryAlternate(prepare: prepare, onError: onError)) { _, _ in
            Wait(duration: delay)
        }
    }
}

/// What a strategy does before a retry: it sends another request or runs a task.
struct RetryAlternate: Sendable {
    typealias Prepare =
        @Sendable (
            _ original: inout HTTPRequest, _ result: Result<HTTPResponse, HTTPError>,
            _ send: (HTTPRequest) async throws -> HTTPResponse
        ) async throws -> Void

    let prepare: Prepare
    let onError: @Sendable (any Error) async -> Void
    /// How many alternate requests one load sends; nil if only the number of its retries limits them.
    var maximum: Int?

    /// The request for the next attempts: unchanged if the work fails, with the error passed to `onError`.
    ///
    /// - Throws: `.cancelled` if the load was cancelled or reset.
    func changed(
        _ original: HTTPRequest, after result: Result<HTTPResponse, HTTPError>, over next: any HTTPLoader,
        on timeline: Timeline
    ) async throws(HTTPError) -> HTTPRequest {
        var changed = original
        do {
            try await prepare(&changed, result) { try await next.load($0, for: original, on: timeline) }
            // The closure may have put another request in place of the original, such as an attempt.
            (changed.context, changed.attemptNumber) = (original.context, nil)
            return changed
        } catch {
            if original.wasReset { throw original.resetError() }
            if Task.isCancelled { throw HTTPError(.cancelled, request: original) }
            await onError(error)
            return original
        }
    }
}

extension HTTPLoader {
    /// Sends the request of an alternate, marked so that no other retry link retries it, and returns the response with
    /// its body in memory.
    fileprivate func load(
        _ request: HTTPRequest, for original: HTTPRequest, on timeline: Timeline
    ) async throws -> HTTPResponse {
        var request = request
        // The alternate may be a copy of the original. Its response must not be saved to the file of the original.
        if request.responseDelivery != .buffered { request.responseDelivery = .buffered }
        request.join(loadOf: original)
        request.attemptNumber = 1
        request.shareDeadline(of: original)
        let point = request.deadline.flatMap { request.limit(to: $0, on: timeline) }
        defer { point?.end() }
        var response = try await load(request, onBehalfOf: original, as: "alternate")
        // The closure may send this request again.
        response.request.attemptNumber = nil
        response.request.decoder = request.decoder ?? original.decoder
        if response.body.buffered == nil { response.body = HTTPResponseBody(try await response.body.data()) }
        // A response that arrives after a reset belongs to the previous user.
        if original.wasReset { throw original.resetError() }
        return response
    }
}

extension RequestTemplate {
    /// nil if the result did not come from the client's own server, which alone may cause the request.
    func request(
        onBehalfOf original: HTTPRequest, after result: Result<HTTPResponse, HTTPError>
    ) throws(HTTPError) -> HTTPRequest? {
        var request = try StandardRequestBuilder(self).requestWithoutEnvironment()
        let hasEnvironment = request.options.contains(ServerEnvironment.self)
        original.context.settings?.apply(&request)
        // The environment of a derived client may be that of a server to which the client's secrets do not belong.
        if !hasEnvironment { request.options.remove(ServerEnvironment.self) }
        var home = result.request.homeOrigin
        if home == nil, original.client == nil, let environment = original.serverEnvironment {
            home = environment.origin
            if !hasEnvironment { request.serverEnvironment = environment }
        }
        let own = home ?? request.origin ?? request.serverEnvironment?.origin
        guard let origin = result.origin, origin == own, result.firstOrigin == own else { return nil }
        if ResponseDecoding.usesDecoder(for: Response.self) {
            request.context.accept = (request.decoder ?? JSONDecoder()).accept
        }
        return request
    }

    func value(of response: HTTPResponse) async throws -> Response {
        var result = Result<HTTPResponse, HTTPError>.success(response)
        do throws(HTTPError) {
            _ = try await response.accepted(by: response.request)
        } catch {
            result = .failure(error)
        }
        let finished = try await finish(result)
        do { return try await decode(finished) } catch {
            throw HTTPError(ofDecoding: error, as: Response.self, response: finished)
        }
    }
}

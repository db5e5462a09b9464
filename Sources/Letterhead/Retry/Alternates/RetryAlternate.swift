import Foundation

extension HTTPRetryStrategy {
    /// Sends another request, then waits, and then retries the original.
    ///
    /// ```swift
    /// .after(
    ///     { original in original.origin == api ? HTTPRequest(method: .post, url: tokenURL) : nil },
    ///     onResponse: { original, answer in
    ///         let token = try JSONDecoder().decode(Token.self, from: try await answer.body.data())
    ///         original.headers.setSecret("Bearer \(token.value)", for: .authorization)
    ///     })
    /// ```
    ///
    /// The other request passes through the links below the retry. Validators do not receive its response, which may
    /// have any status. The other request is not retried and does not count as an attempt. Its errors are passed to
    /// `onError` and not to the caller; the original is then retried unchanged.
    ///
    /// - Parameters:
    ///   - request: creates the other request from the original. If it returns nil, no other request is sent, and the
    ///     original is retried after the wait.
    ///   - delay: the wait after the other request. Default: zero; a negative wait counts as zero.
    ///   - sharing: determines which loads share one request. Default: nil (each load sends a separate request).
    ///   - onResponse: receives the response, and may change the original for its next attempts. With `sharing`, it runs once
    ///     for each load that waited, with the original of that load.
    ///   - onError: receives an error of the request or of another closure. Default: does nothing.
    public static func after(
        _ request: @escaping @Sendable (_ original: HTTPRequest) async throws -> HTTPRequest?,
        delay: Duration = .zero, sharing: Sharing? = nil,
        onResponse: @escaping @Sendable (_ original: inout HTTPRequest, _ answer: HTTPResponse) async throws -> Void,
        onError: @escaping @Sendable (any Error) async -> Void = { _ in }
    ) -> HTTPRetryStrategy {
        HTTPRetryStrategy(
            "after another request",
            alternate: RetryAlternate(
                work: .request(make: request) { try await onResponse(&$0, try $1.get()) }, sharing: sharing,
                onError: onError)
        ) { _, _ in Wait(duration: delay) }
    }

    /// Sends a template, decodes its response, then waits, and then retries the original.
    ///
    /// ```swift
    /// let signingIn = HTTPRetryStrategy.after(RefreshToken()) { original, token in
    ///     original.headers.setSecret("Bearer \(token.value)", for: .authorization)
    /// }
    /// let secret = try await client.send(GetSecret().retry(signingIn.when(.statuses([401])), maximumRetries: 1))
    /// ```
    ///
    /// The template is sent with the client of the original, and in its environment unless the template sets one: it
    /// begins with the settings of the client, and the client's decoder decodes the response. Apart from that, it is
    /// sent as any other request of ``after(_:delay:sharing:onResponse:onError:)``. If its status is not accepted or
    /// its response cannot be decoded, `onError` receives the error.
    ///
    /// - Parameters:
    ///   - template: the template to send.
    ///   - delay: the wait after the response. Default: zero; a negative wait counts as zero.
    ///   - sharing: determines which loads share one request. Default: nil (each load sends a separate request).
    ///   - onValue: receives the decoded response, and may change the original for its next attempts. With `sharing`,
    ///     the response is decoded and the closure is called once for each load that waited.
    ///   - onError: receives an error of the template or of the closure. Default: does nothing.
    public static func after<Template: RequestTemplate>(
        _ template: Template, delay: Duration = .zero, sharing: Sharing? = nil,
        onValue:
            @escaping @Sendable (_ original: inout HTTPRequest, _ value: Template.Response) async throws -> Void,
        onError: @escaping @Sendable (any Error) async -> Void = { _ in }
    ) -> HTTPRetryStrategy {
        HTTPRetryStrategy(
            "after another request",
            alternate: RetryAlternate(
                work: .request(make: template.request(onBehalfOf:)) {
                    try await onValue(&$0, try await template.value(of: $1))
                }, sharing: sharing, onError: onError)
        ) { _, _ in Wait(duration: delay) }
    }

    /// Runs a task, then waits, and then retries the original.
    ///
    /// - Parameters:
    ///   - delay: the wait after the task. Default: zero; a negative wait counts as zero.
    ///   - task: may change the original for its next attempts.
    ///   - onError: receives the error of the task; the original is then retried unchanged. Default: does nothing.
    public static func afterTask(
        delay: Duration = .zero, task: @escaping @Sendable (inout HTTPRequest) async throws -> Void,
        onError: @escaping @Sendable (any Error) async -> Void = { _ in }
    ) -> HTTPRetryStrategy {
        HTTPRetryStrategy("after a task", alternate: RetryAlternate(work: .task(task), onError: onError)) { _, _ in
            Wait(duration: delay)
        }
    }
}

extension HTTPRetryStrategy {
    /// Determines which loads share one alternate request, and how many alternate requests a load may take part in.
    ///
    /// Loads share a request if their strategies were created with copies of one value, and with an equal key. If
    /// several loads need the request at the same time, one of them sends it, and all receive its response. Regardless
    /// of the key, loads share only if their requests have the same origin and the same identity. The identity consists
    /// of the username and password, the secret headers and query items, the authentication, the required scopes and
    /// the environment.
    public struct Sharing: Sendable {
        /// What only the copies of one value for one key have in common.
        struct Key: Hashable, Sendable {
            fileprivate let owner = UUID()
            fileprivate var name = ""
        }

        private(set) var key = Key()
        /// The maximum number of alternate requests for one load.
        let maximum: Int

        /// Creates a value. Only copies of it share requests.
        ///
        /// - Parameter maximum: the maximum number of alternate requests for one load and one key. Default: 1; a
        ///   negative number counts as zero.
        public init(maximum: Int = 1) { self.maximum = max(maximum, 0) }

        /// Returns a copy of this value for one key, such as the name of a user. Only loads with an equal key share a
        /// request.
        public func forKey(_ key: String) -> Sharing {
            var copy = self
            copy.key.name = key
            return copy
        }
    }
}

/// The work before a request is retried.
struct RetryAlternate: Sendable {
    enum Work: Sendable {
        /// Runs a closure, which may change the request.
        case task(@Sendable (inout HTTPRequest) async throws -> Void)
        /// Sends another request, which a closure makes from the original; nil to send none. Another closure receives
        /// the result, and may change the original.
        case request(
            make: @Sendable (HTTPRequest) async throws -> HTTPRequest?,
            receive: @Sendable (inout HTTPRequest, Result<HTTPResponse, any Error>) async throws -> Void)
    }

    let work: Work
    /// The loads that share one request.
    var sharing: HTTPRetryStrategy.Sharing?
    /// Receives an error of the request or of a closure.
    let onError: @Sendable (any Error) async -> Void

    /// An error that ends the load and is not passed to `onError`.
    private struct EndOfLoad: Error {
        let error: HTTPError
    }

    /// Returns the request for the next attempts. If the work fails, its error is passed to `onError`, and the original
    /// request is returned unchanged.
    ///
    /// - Parameters:
    ///   - original: the request of the last attempt.
    ///   - next: sends the other request.
    ///   - flights: the requests that loads share.
    ///   - mark: the start of the last attempt.
    /// - Throws: `.cancelled` if the load was cancelled or reset; `.timedOut` if its deadline passed.
    func changed(
        _ original: HTTPRequest, over next: any HTTPLoader, flights: AlternateFlights, since mark: AlternateAnswers.Mark
    ) async throws(HTTPError) -> HTTPRequest {
        var changed = original
        do {
            switch work {
            case .task(let task): try await task(&changed)
            case .request(let make, let receive):
                let isShared = sharing != nil
                let send = { @Sendable () async -> AlternateFlights.Answer in
                    do {
                        guard let request = try await make(original) else { return .success(nil) }
                        return .success(try await next.load(request, for: original, isShared: isShared))
                    } catch {
                        return .failure(error)
                    }
                }
                switch try await shared(send, by: original, flights, since: mark) {
                case .success(nil): break
                case .success(let response?): try await receive(&changed, .success(response))
                case .failure(let error): try await receive(&changed, .failure(error))
                }
            }
            return changed
        } catch let error as EndOfLoad {
            throw error.error
        } catch {
            if Task.isCancelled { throw HTTPError(.cancelled, request: original) }
            await onError(error)
            return original
        }
    }

    private func shared(
        _ send: @escaping @Sendable () async -> AlternateFlights.Answer, by original: HTTPRequest,
        _ flights: AlternateFlights, since mark: AlternateAnswers.Mark
    ) async throws -> AlternateFlights.Answer {
        guard let sharing else { return await send() }
        let key = AlternateFlights.Key(sharing: sharing.key, identity: RequestIdentity(original))
        switch await flights.outcome(of: key, since: mark, within: original.timeLeft, work: send) {
        case .value(let answer): return answer
        case .cancelled: throw EndOfLoad(error: HTTPError(.cancelled, request: original))
        case .reset: throw EndOfLoad(error: HTTPError(.cancelled, request: original, message: "the chain was reset"))
        case .late: throw EndOfLoad(error: original.deadlinePassed(while: "waiting for the alternate request"))
        }
    }
}

extension HTTPLoader {
    /// Sends the request of an alternate, marked so that no other retry link retries it, and returns the response with
    /// its body in memory.
    fileprivate func load(_ request: HTTPRequest, for original: HTTPRequest, isShared: Bool) async throws
        -> HTTPResponse
    {
        var request = request
        // The alternate may be a copy of the original. Its response must not be saved to the file of the original.
        if request.responseDelivery != .buffered { request.responseDelivery = .buffered }
        request.join(loadOf: original)
        request.isAttempt = true
        request.shareDeadline(of: isShared ? nil : original)
        var response = try await load(request, as: "alternate", for: original.observation)
        if response.body.buffered == nil { response.body = HTTPResponseBody(try await response.body.data()) }
        return response
    }
}

extension RequestTemplate {
    /// Builds the request as the client of another one sends it, in the environment of that one.
    func request(onBehalfOf original: HTTPRequest) throws(HTTPError) -> HTTPRequest {
        var request = try StandardRequestBuilder(self).request()
        if !request.options.contains(ServerEnvironmentOption.self), let environment = original.serverEnvironment {
            request.serverEnvironment = environment
        }
        original.context.settings?.apply(&request)
        if ResponseDecoding.usesDecoder(for: Response.self) {
            request.context.accept = (request.decoder ?? JSONDecoder()).accept
        }
        return request
    }

    /// Decodes the result of a request that was built from this template.
    fileprivate func value(of result: Result<HTTPResponse, any Error>) async throws -> Response {
        let checked: Result<HTTPResponse, HTTPError>
        switch result {
        case .success(let response):
            do throws(HTTPError) {
                checked = .success(try await response.accepted(by: response.request))
            } catch {
                checked = .failure(error)
            }
        case .failure(let error as HTTPError): checked = .failure(error)
        case .failure(let error): throw error
        }
        let response = try await finish(checked)
        do { return try await decode(response) } catch { throw HTTPError(ofDecoding: error, response: response) }
    }
}

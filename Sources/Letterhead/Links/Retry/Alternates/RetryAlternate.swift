// SPDX-License-Identifier: MIT
import LetterheadFoundation

extension HTTPRetryStrategy {
    /// Sends a template, decodes its response, then waits, and then retries the original.
    ///
    /// The client of the original sends the template with its own settings and its own decoder. The request passes
    /// through the links below the retry; this link neither validates nor retries it, and it is no attempt. Its own deadline
    /// applies to it, and so does that of the original, unless loads share it.
    ///
    /// The template is sent only after a response of the client's own server (``HTTPRequest/homeOrigin``), in the
    /// environment of the template or else of the client, even if the original has another one. Without a client, the
    /// environment of the original counts as home; without any, the server of the template does. After a response of
    /// another server, the original is retried unchanged.
    ///
    /// A negative `delay` counts as zero. With `sharing`, loads share one request, and `onValue` is called for each
    /// load with its own original, which it may change for the next attempts. An error of the template or of the
    /// closure, such as a status that is not accepted or a response that cannot be decoded, is passed to `onError` and
    /// not to the caller; the original is then retried unchanged.
    public static func after<Template: RequestTemplate>(
        _ template: Template, delay: Duration = .zero, sharing: Sharing? = nil,
        onValue: @escaping @Sendable (_ original: inout HTTPRequest, Template.Response) async throws -> Void,
        onError: @escaping @Sendable (any Error) async -> Void = { _ in }
    ) -> HTTPRetryStrategy {
        after(
            make: template.request(onBehalfOf:after:), delay: delay, sharing: sharing,
            receive: { try await onValue(&$0, try await template.value(of: $1)) }, onError: onError)
    }

    /// Sends a plain request, with the other parameters of ``after(_:delay:sharing:onValue:onError:)``. `request`
    /// creates it from the original, for each load, including those that then share a request; if it returns nil, none
    /// is sent before the retry. `onResponse` receives a response of any status, and may change the original.
    public static func after(
        _ request: @escaping @Sendable (_ original: HTTPRequest) async throws -> HTTPRequest?,
        delay: Duration = .zero, sharing: Sharing? = nil,
        onResponse: @escaping @Sendable (_ original: inout HTTPRequest, _ answer: HTTPResponse) async throws -> Void,
        onError: @escaping @Sendable (any Error) async -> Void = { _ in }
    ) -> HTTPRetryStrategy {
        after(
            make: { original, _ in try await request(original) }, delay: delay, sharing: sharing, receive: onResponse,
            onError: onError)
    }

    private static func after(
        make: @escaping RetryAlternate.Make, delay: Duration, sharing: Sharing?,
        receive: @escaping RetryAlternate.Receive, onError: @escaping @Sendable (any Error) async -> Void
    ) -> HTTPRetryStrategy {
        let alternate = RetryAlternate(work: .request(make, receive), sharing: sharing, onError: onError)
        return HTTPRetryStrategy("after another request", alternate: alternate) { _, _ in Wait(duration: delay) }
    }

    /// Runs a task, which may change the original for its next attempts, then waits, and then retries it. A negative
    /// `delay` counts as zero. `onError` receives the error of the task; the original is then retried unchanged.
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
    /// Determines which loads share one alternate request, and how many such requests a load may take part in.
    ///
    /// Loads share a request if their strategies were created with copies of one value and with an equal key, if their
    /// requests have the same origin and the same identity, and if their clients add the same headers and query items.
    /// The identity consists of the username and password, the secret headers and query items, the authentication, the
    /// required scopes and the environment.
    public struct Sharing: Sendable {
        /// What only the copies of one value for one key have in common.
        struct Key: Hashable, Sendable {
            fileprivate let owner = UUID()
            fileprivate var name = ""
            fileprivate var headers = HTTPHeaders()
            fileprivate var query = QueryParameters()
        }

        private(set) var key = Key()
        let maximum: Int

        /// Only copies of a value share requests. `maximum` counts for one load and one key; a negative number is zero.
        public init(maximum: Int = 1) { self.maximum = max(maximum, 0) }

        /// Separates loads by a key, such as the name of a user.
        public func forKey(_ key: String) -> Sharing {
            var copy = self
            copy.key.name = key
            return copy
        }

        /// Returns the key for the loads of clients that add the same headers and query items as that of a request.
        fileprivate func key(for original: HTTPRequest) -> Key {
            var key = key
            if let settings = original.context.settings {
                (key.headers, key.query) = (settings.headers, settings.query)
            }
            return key
        }
    }
}

struct RetryAlternate: Sendable {
    /// nil sends none.
    typealias Make = @Sendable (HTTPRequest, Result<HTTPResponse, HTTPError>) async throws -> HTTPRequest?
    typealias Receive = @Sendable (inout HTTPRequest, HTTPResponse) async throws -> Void

    enum Work: Sendable {
        case task(@Sendable (inout HTTPRequest) async throws -> Void)
        case request(Make, Receive)
    }

    let work: Work
    var sharing: HTTPRetryStrategy.Sharing?
    let onError: @Sendable (any Error) async -> Void

    /// An error that ends the load and is not passed to `onError`.
    private struct EndOfLoad: Error {
        let error: HTTPError
    }

    /// The request for the next attempts: unchanged if the work fails, with the error passed to `onError`.
    ///
    /// - Throws: `.cancelled` if the load was cancelled or reset; `.timedOut` if its deadline passed.
    func changed(
        _ original: HTTPRequest, after result: Result<HTTPResponse, HTTPError>, over next: any HTTPLoader,
        _ flights: AlternateFlights, since mark: AlternateFlights.Mark, on timeline: Timeline
    ) async throws(HTTPError) -> HTTPRequest {
        var changed = original
        do {
            switch work {
            case .task(let task): try await task(&changed)
            case .request(let make, let receive):
                guard let request = try await make(original, result) else { return original }
                let isShared = sharing != nil
                let send = { @Sendable () async -> AlternateFlights.Answer in
                    do {
                        return .success(try await next.load(request, for: original, isShared: isShared, on: timeline))
                    } catch {
                        return .failure(error)
                    }
                }
                var response =
                    if let sharing {
                        try await Self.shared(send, sharing, by: original, flights, since: mark).get()
                    } else {
                        try await send().get()
                    }
                // Loads of clients with different decoders may share the response.
                response.request.decoder = request.decoder ?? original.decoder
                try await receive(&changed, response)
            }
            // The closure may have put another request in place of the original.
            changed.context = original.context
            return changed
        } catch let error as EndOfLoad {
            throw error.error
        } catch {
            if original.wasReset { throw original.resetError() }
            if Task.isCancelled { throw HTTPError(.cancelled, request: original) }
            await onError(error)
            return original
        }
    }

    private static func shared(
        _ send: @escaping @Sendable () async -> AlternateFlights.Answer, _ sharing: HTTPRetryStrategy.Sharing,
        by original: HTTPRequest, _ flights: AlternateFlights, since mark: AlternateFlights.Mark
    ) async throws(EndOfLoad) -> AlternateFlights.Answer {
        let key = AlternateFlights.Key(sharing: sharing.key(for: original), identity: RequestIdentity(original))
        switch await flights.outcome(of: key, since: mark, within: original.timeLeft, work: send) {
        case .value(let value): return value.answer
        case .cancelled: throw EndOfLoad(error: HTTPError(.cancelled, request: original))
        case .reset: throw EndOfLoad(error: original.resetError("the chain was reset"))
        case .late: throw EndOfLoad(error: original.deadlinePassed(while: "waiting for the alternate request"))
        }
    }
}

extension HTTPLoader {
    /// Sends the request of an alternate, marked so that no other retry link retries it, and returns the response with
    /// its body in memory.
    fileprivate func load(
        _ request: HTTPRequest, for original: HTTPRequest, isShared: Bool, on timeline: Timeline
    ) async throws -> HTTPResponse {
        var request = request
        // The alternate may be a copy of the original. Its response must not be saved to the file of the original.
        if request.responseDelivery != .buffered { request.responseDelivery = .buffered }
        request.join(loadOf: original)
        request.isAttempt = true
        request.shareDeadline(of: isShared ? nil : original)
        let point = request.deadline.flatMap { request.limit(to: $0, on: timeline) }
        defer { point?.end() }
        var response = try await load(request, onBehalfOf: original, as: "alternate")
        // The closure may send this request again.
        response.request.isAttempt = false
        if response.body.buffered == nil { response.body = HTTPResponseBody(try await response.body.data()) }
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

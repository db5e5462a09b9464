// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// One load, as the caller sees it. ``SendableRequest``, the plain requests of ``HTTPClient`` and
/// ``HTTPLoader/start(_:completion:)`` use it.
///
/// ```swift
/// var load = Load(over: chain, for: client)
/// do {
///     let request = load.begin(request)                            // context, observation, progress
///     let response = try await load.response(to: request) { … }    // chain, status, finish
///     return try load.end(response)                                // file of a download, end of the observation
/// } catch {
///     throw load.fail(error)
/// }
/// ```
struct Load: Sendable {
    /// The value of `Accept` for loads without a client.
    private static let accept = JSONDecoder().accept

    private let loader: any HTTPLoader
    let client: HTTPClient?
    private let template: (any RequestTemplate.Type)?
    private var updates: [ProgressUpdates] = []
    private var observation: Observation?
    /// Nil for a load without a client, or before the load begins.
    private var generation: ClientGeneration?
    /// Whether a nested load sends the same download. The outer load then puts the file in place.
    private var isNestedDownload = false
    /// Whether the response names the file of a download.
    private var isNamedByResponse = false
    private var download: DownloadOwner?

    /// Creates a load that hasn't begun.
    ///
    /// - Parameters:
    ///   - loader: the chain that will receive the request.
    ///   - client: the client whose settings apply. Nil if the request is sent without a client.
    ///   - template: the type of the template, for observers. Default: nil.
    init(over loader: any HTTPLoader, for client: HTTPClient?, template: (any RequestTemplate.Type)? = nil) {
        (self.loader, self.client, self.template) = (loader, client, template)
    }

    /// Returns the request with the context of this load and the settings of the client. The request keeps its
    /// template. If it comes from an earlier load that is still in progress, it also keeps the deadline and the
    /// download of that load.
    ///
    /// - Parameter decodes: whether a decoder will read the response, so that `Accept` is set. Default: false.
    mutating func begin(_ request: consuming HTTPRequest, decodes: Bool = false) -> HTTPRequest {
        var begun = request
        begun.removeSignature()
        // An earlier load may have had a different decoder.
        begun.headers.removeFallbacks { _ in true }
        let (earlier, owned, secrets) = (begun.download, begun.ownedUpdates, begun.pathSecrets)
        begun.context = LoadContext(template: begun.context.template.take(), deadline: begun.liveDeadline)
        if !secrets.isEmpty { begun.earlierSecrets = secrets }
        if let client {
            client.adopt(&begun, decodes: decodes)
        } else if decodes {
            begun.accept(orElse: Self.accept)
        }
        if case .file = begun.responseDelivery {
            isNestedDownload = earlier.map { !$0.hasEnded } ?? false
            if !isNestedDownload { download = DownloadOwner() }
            begun.download = download ?? earlier
            isNamedByResponse = begun[option: FolderDownloadOption.self]
        }
        generation = begun.context.generation
        updates = begun.ownUpdates(after: owned)
        observation = client?.observe(begun, template: template)
        begun.observation = observation
        return begun
    }

    /// Sends the request, checks the status of the response, and calls a closure with the result. If the body is
    /// streamed, the load ends when the body does.
    ///
    /// - Parameter finish: returns the final response. See ``RequestTemplate/finish(_:)``.
    @inline(__always)
    func response(
        to request: HTTPRequest, finish: (Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse
    ) async throws(HTTPError) -> HTTPResponse {
        let result = await result(of: request)
        let response: HTTPResponse
        do {
            response = try await finish(result)
        } catch {
            // An error with a stream would hold the connection.
            let response = await result.response?.withoutStream() ?? result.failure?.response
            throw HTTPError(error, request: request, response: response)
        }
        return try await held(response, for: request)
    }

    /// Sends the request and returns its response with any status.
    func uncheckedResponse(to request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try await held(load(request), for: request)
    }

    /// Saves a download to a hidden file. With a streamed body, the load ends when the body does.
    @inline(__always)
    private func held(
        _ response: HTTPResponse, for request: HTTPRequest
    ) async throws(HTTPError) -> HTTPResponse {
        var response = response
        if case .file(let file) = request.responseDelivery { try await response.save(to: file, for: request) }
        guard response.body.isStreamed else { return response }
        let lease = ResourceLedger.lease(
            "the streamed body of \(request.outline), which was neither read nor dropped")
        let (updates, observation) = (updates, observation)
        let origin = HTTPResponseBody.Origin(response)
        let cancel = response.body.canceller(
            throwing: HTTPResponseBody.Origin.error(
                origin, .cancelled, "the client was reset while the body was read"))
        let remove = generation?.onEnd(cancel)
        response.body.onEnd { end in
            remove?()
            lease?.release()
            for updates in updates { updates.finish() }
            observation?.end(origin.response, end)
        }
        response.body.origin = origin
        return response
    }

    @inline(__always)
    private func result(of request: HTTPRequest) async -> Result<HTTPResponse, HTTPError> {
        do throws(HTTPError) {
            return .success(try await load(request).accepted(by: request))
        } catch {
            return .failure(current(error))
        }
    }

    @inline(__always)
    private func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        // A nested load has the same destination as the outer load.
        if download != nil, case .file(let file) = request.responseDelivery {
            do throws(PrivateFile.Failure) {
                try PrivateFile.checkPlace(file)
                try PrivateFile.checkFolder(of: file)
            } catch {
                throw HTTPError(
                    .cannotSaveResponse, request: request, message: "the destination of the download \(error.rule)",
                    mayHaveBeenSent: false)
            }
        }
        let lease = ResourceLedger.lease("a task that loads \(request.outline)")
        defer { lease?.release() }
        guard let sequence = client?.sequence, let deadline = sequence.deadline else {
            return try current(try await loader.load(request))
        }
        if let error = sequence.brokenRule(for: request) { throw error }
        let left = deadline.timeLeft
        if left <= .zero {
            throw request.deadlinePassed(while: "waiting for its turn in a series", mayHaveBeenSent: false)
        }
        let response = try await request.load(within: left, on: deadline.timeline) {
            (limited) async throws(HTTPError) in
            try await loader.load(limited)
        }
        return try current(response)
    }

    private var wasReset: Bool { generation?.hasEnded == true }

    /// Returns the response unless the client was reset since the load began. It then belongs to the previous user.
    private func current(_ response: HTTPResponse) throws(HTTPError) -> HTTPResponse {
        guard wasReset else { return response }
        response.draft?.discard()
        throw response.request.resetError()
    }

    private func current(_ error: HTTPError) -> HTTPError {
        let isCancelled = error.code == .cancelled
        guard wasReset, !isCancelled || error.message.isEmpty else { return error }
        return HTTPError(
            .cancelled, request: error.request, underlying: isCancelled ? nil : error, message: "the client was reset",
            attempts: error.attempts, mayHaveBeenSent: error.mayHaveBeenSent)
    }

    /// Ends a load that succeeded, and moves a download to its place. If the body is streamed, the load ends when the
    /// body does.
    func end(_ response: HTTPResponse) throws(HTTPError) -> HTTPResponse {
        let response = try current(response)
        if !isNestedDownload {
            let name = isNamedByResponse ? response.filename ?? .standard : nil
            do { try response.draft?.put(as: name) } catch { throw response.unsaved(error) }
        }
        download?.end()
        if !response.body.isStreamed {
            for updates in updates { updates.finish() }
            observation?.end(response)
        }
        return response
    }

    /// Ends a load that failed, and returns the error to throw: `CancellationError` if the calling task was cancelled.
    ///
    /// - Parameter others: progress updates from a request that could not be built. Default: none.
    func fail(_ error: any Error, ending others: @autoclosure () -> [ProgressUpdates] = []) -> any Error {
        let failure = (error as? HTTPError).map { current($0) }
        for updates in updates.isEmpty ? others() : updates { updates.finish() }
        // If the request could not be built, only the start and the end of the load are recorded.
        let begun = observation ?? client?.observe(failure?.request ?? HTTPRequest(), template: template)
        begun?.end(failure ?? error)
        download?.end()
        failure?.response?.draft?.discard()
        return failure?.orCancellation ?? error
    }
}

extension HTTPResponse {
    /// Saves a body that doesn't come from the transport, because a link or the template has set it.
    ///
    /// - Throws: `.cannotSaveResponse` if there is nothing to save.
    fileprivate mutating func save(to file: URL, for request: HTTPRequest) async throws(HTTPError) {
        guard request.saves(status) else { return }
        guard body.buffered?.isEmpty != true else {
            guard draft == nil else { return }
            throw HTTPError(
                .cannotSaveResponse, request: self.request, response: self,
                message: "no file was saved: a link or the template replaced the response of the transport")
        }
        do {
            draft = try await ResponseFile(file).save(body)
            body = HTTPResponseBody()
        } catch {
            throw error is HTTPError || error is CancellationError
                ? HTTPError(error, request: request, response: self) : unsaved(error)
        }
    }
}

extension HTTPLoader {
    /// Starts a request from code that is not async, and returns immediately.
    ///
    /// ```swift
    /// let task = chain.start(request) { result in … }
    /// task.cancel()
    /// ```
    ///
    /// The completion closure is called exactly once, on an arbitrary thread, with the response or the error. After a
    /// cancellation, the error is `.cancelled`.
    ///
    /// - Returns: the task of the request, which you can cancel. The request continues if you drop the task.
    @discardableResult
    public func start(
        _ request: HTTPRequest, completion: @escaping @Sendable (Result<HTTPResponse, HTTPError>) -> Void
    ) -> Task<Void, Never> {
        Task {
            var load = Load(over: self, for: nil)
            do throws(HTTPError) {
                let begun = load.begin(request)
                completion(.success(try load.end(try await load.uncheckedResponse(to: begun))))
            } catch {
                _ = load.fail(error)
                completion(.failure(error))
            }
        }
    }
}

extension HTTPClient {
    /// Sends a template from code that is not async, such as a function with a completion handler, and returns
    /// immediately. In code that is async, use ``send(_:)-(Template)``.
    ///
    /// ```swift
    /// let task = client.start(GetUser(login: "ada")) { result in … }
    /// task.cancel()
    /// ```
    ///
    /// The completion is called exactly once, on an arbitrary thread, with the value or the error. After a
    /// cancellation, the error is `.cancelled`.
    ///
    /// - Returns: the task of the request, which you can cancel. The request continues if you drop the task.
    @discardableResult
    public func start<Template: RequestTemplate>(
        _ template: Template, completion: @escaping @Sendable (Result<Template.Response, HTTPError>) -> Void
    ) -> Task<Void, Never> {
        Task {
            let result: Result<Template.Response, HTTPError>
            do { result = .success(try await send(template)) } catch {
                let failure = error as? HTTPError
                result = .failure(failure ?? HTTPError(error, request: (try? request(for: template)) ?? HTTPRequest()))
            }
            completion(result)
        }
    }
}

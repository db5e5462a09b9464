/// A template with a builder and a loader, ready to be sent.
///
/// ```swift
/// let user = try await SendableRequest(GetUser(login: "ada"), over: chain).send()
/// ```
///
/// Sending has these steps:
///
/// 1. The builder creates the request from the template.
/// 2. The loader returns the response. If the loader is a chain, its links determine how the request is sent; see
///    ``HTTPClient`` for the links of a client.
/// 3. The status is checked.
/// 4. The template's ``RequestTemplate/finish(_:)`` receives the response or the error.
/// 5. The template's ``RequestTemplate/decode(_:)`` decodes the response.
public struct SendableRequest<Template: RequestTemplate>: Sendable {
    private let template: Template
    /// Builds the request; nil for the standard builder.
    private let builder: (any RequestBuilder<Template>)?
    private let loader: any HTTPLoader
    /// What the client adds; nil for a request that is sent without a client.
    private let client: ClientContext?

    /// Creates a request from a template, with a ``StandardRequestBuilder``.
    public init(_ template: Template, over loader: any HTTPLoader) { self.init(template, over: loader, for: nil) }

    /// Creates a request from a template for a client.
    init(_ template: Template, over loader: any HTTPLoader, for client: ClientContext?) {
        self.template = template
        builder = nil
        self.loader = loader
        self.client = client
    }

    /// Creates a request from a builder, which contains the template.
    public init(_ builder: some RequestBuilder<Template>, over loader: any HTTPLoader) {
        template = builder.template
        self.builder = builder
        self.loader = loader
        client = nil
    }

    /// Sends the request and returns the decoded value.
    ///
    /// - Throws: ``HTTPError``; and `CancellationError` if the calling task was cancelled.
    @discardableResult
    public func send() async throws -> Template.Response { try await sendWithResponse().value }

    /// Sends the request and returns the decoded value with its response.
    ///
    /// - Throws: ``HTTPError``; and `CancellationError` if the calling task was cancelled.
    @concurrent
    public func sendWithResponse() async throws -> (value: Template.Response, response: HTTPResponse) {
        var progress: ProgressUpdates.Report?
        var observation: Observation?
        do {
            var request = try requestToDecode()
            observation = observe(&request)
            progress = request.ownProgressReport()
            if Template.Response.self != HTTPResponse.self, case .file = request.responseDelivery {
                let result = try await savedAndDecoded(request)
                progress?.finish()
                return result
            }
            var response = try await finished(request)
            let isStreamed = response.body.isStreamed
            if isStreamed { response = response.ending(progress).ending(observation) }
            let value = try await decode(response)
            if !isStreamed {
                progress?.finish()
                observation?.end(response)
            }
            return (value, response)
        } catch {
            finish(progress)
            end(observation, error)
            throw error.atTheDoor
        }
    }

    /// Sends the request and returns the response without decoding it.
    ///
    /// - Throws: ``HTTPError``; and `CancellationError` if the calling task was cancelled.
    @concurrent
    public func response() async throws -> HTTPResponse {
        var progress: ProgressUpdates.Report?
        var observation: Observation?
        do {
            var request = try request()
            observation = observe(&request)
            progress = request.ownProgressReport()
            return try await finished(request).ending(progress).ending(observation).namedInBody
        } catch {
            finish(progress)
            end(observation, error)
            throw error.atTheDoor
        }
    }

    /// Ends the progress updates of a failed request. If the request could not be built, those of the template are
    /// ended.
    private func finish(_ progress: ProgressUpdates.Report?) {
        (progress ?? template.options[ProgressReportOption.self])?.finish()
    }

    /// Begins the observation of the load, if the client has observers. A builder may return a request from an earlier
    /// response, whose observation must not apply here.
    private func observe(_ request: inout HTTPRequest) -> Observation? {
        guard let observing = client?.observing else {
            if request.observation != nil { request.observation = nil }
            return nil
        }
        let observation = observing.begin(request, template: rootName(of: Template.self))
        request.observation = observation
        return observation
    }

    /// Ends the observation of a failed load. If the request could not be built, only the start and the end of the load
    /// are recorded.
    private func end(_ observation: Observation?, _ error: any Error) {
        guard let observing = client?.observing else { return }
        let failed = (error as? HTTPError)?.request ?? HTTPRequest()
        (observation ?? observing.begin(failed, template: rootName(of: Template.self))).end(error)
    }

    /// Builds the request, and marks it as a request of the client.
    ///
    /// The members of the template are checked here, because a custom builder might not use the standard builder, which
    /// checks them.
    func request() throws(HTTPError) -> HTTPRequest {
        do throws(HTTPError) {
            var request =
                if let builder { try builder.checkedRequest() } else { try StandardRequestBuilder(template).request() }
            client?.mark(&request)
            return request
        } catch {
            var request = error.request
            client?.mark(&request)
            throw error.with(request: request)
        }
    }

    /// Builds a request whose response will be decoded.
    private func requestToDecode() throws(HTTPError) -> HTTPRequest {
        var request = try request()
        let isDecoded = ResponseDecoding.usesDecoder(for: Template.Response.self)
        if request.isDecoded != isDecoded { request.isDecoded = isDecoded }
        return request
    }

    /// Returns the response of the template's `finish`. A download then replaces its file.
    @inline(__always)
    private func finished(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try await request.withoutHold.holdingDownload { (request) throws(HTTPError) in
            try await finish(await result(of: request), request: request).savingReplacedBody(of: request)
        }
    }

    /// Returns the response of a download and its value. The file is replaced only if the response can be decoded.
    private func savedAndDecoded(
        _ request: HTTPRequest
    ) async throws(HTTPError) -> (value: Template.Response, response: HTTPResponse) {
        var decoded: Template.Response?
        let response = try await request.withoutHold.holdingDownload { (request) throws(HTTPError) in
            let response = try await finish(await result(of: request), request: request).savingReplacedBody(of: request)
            decoded = try await decode(response)
            return response
        }
        guard let decoded else { throw HTTPError(.cannotDecodeResponse, request: request, response: response) }
        return (decoded, response)
    }

    /// Returns the response if its status is accepted, or an error otherwise.
    @inline(__always)
    private func result(of request: HTTPRequest) async -> Result<HTTPResponse, HTTPError> {
        do throws(HTTPError) {
            return .success(try await loader.load(request).accepted(by: request))
        } catch {
            request.heldDownload?.forget()
            return .failure(error)
        }
    }

    @inline(__always)
    private func finish(
        _ result: Result<HTTPResponse, HTTPError>, request: HTTPRequest
    ) async throws(HTTPError) -> HTTPResponse {
        do {
            return try await template.finish(result)
        } catch {
            let response =
                switch result {
                case .success(let response): await response.withoutStream()
                case .failure(let failure): failure.response
                }
            throw HTTPError(error, request: request, response: response)
        }
    }

    @inline(__always)
    private func decode(_ response: HTTPResponse) async throws(HTTPError) -> Template.Response {
        response.request.observation?.recordDecoding("decoding.start", Template.Response.self)
        do {
            let value = try await template.decode(response)
            response.request.observation?.recordDecoding("decoding.end", Template.Response.self)
            return value
        } catch {
            let failure = HTTPError(ofDecoding: error, response: response)
            response.request.observation?.recordDecoding("decoding.failed", Template.Response.self, failure)
            throw failure
        }
    }
}

extension HTTPResponse {
    /// Returns this response if its status is accepted.
    ///
    /// - Throws: `.unacceptableStatus`, with the response and at most 1 MiB of its body in memory.
    func accepted(by request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        if request.accepts(status) { return self }
        let response = await keptInMemory()
        if Task.isCancelled {
            throw HTTPError(.cancelled, request: self.request, response: response, attempts: attempts)
        }
        let expected = request.acceptedStatuses == nil ? "200–299" : "one of acceptedStatuses"
        throw HTTPError(
            .unacceptableStatus, request: self.request, response: response,
            message: "the status is not accepted (expected \(expected))", attempts: attempts)
    }
}

extension HTTPError {
    /// The error that public functions throw: `CancellationError` if the calling task was cancelled, this error
    /// otherwise.
    var atTheDoor: any Error { code == .cancelled && Task.isCancelled ? CancellationError() : self }
}

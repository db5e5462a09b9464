/// One request, ready to be sent over a chain: a template, what builds it, and who loads it.
///
/// ```swift
/// let user = try await SendableRequest(GetUser(login: "ada"), over: chain).send()
/// ```
///
/// This is the whole flow, in order: build, load, judge the status, let the template finish, decode. What happens while
/// it is loaded is the chain's, link by link; ``HTTPClient`` says which it has.
public struct SendableRequest<Template: RequestTemplate>: Sendable {
    private let builder: any RequestBuilder<Template>
    private let loader: any HTTPLoader
    private var environment: ClientEnvironment?

    /// A template, built by ``StandardRequestBuilder``.
    public init(_ template: Template, over loader: any HTTPLoader) {
        self.init(StandardRequestBuilder(template), over: loader)
    }

    /// A template, whose request is shown in the environment of a client.
    init(_ template: Template, over loader: any HTTPLoader, in environment: ClientEnvironment?) {
        self.init(template, over: loader)
        self.environment = environment
    }

    /// A builder with its template.
    public init(_ builder: some RequestBuilder<Template>, over loader: any HTTPLoader) {
        self.builder = builder
        self.loader = loader
    }

    /// Sends it and gives the value.
    ///
    /// - Throws: ``HTTPError``; and `CancellationError` when the calling task was cancelled.
    @discardableResult
    public func send() async throws -> Template.Response { try await sendWithResponse().value }

    /// Sends it and gives the value with the response that it was made of.
    ///
    /// - Throws: ``HTTPError``, before anything is sent when the template's response can neither be decoded nor has a
    ///   ``RequestTemplate/decode(_:)``; and `CancellationError` when the calling task was cancelled.
    @concurrent
    public func sendWithResponse() async throws -> (value: Template.Response, response: HTTPResponse) {
        var progress: ProgressUpdates.Report?
        do {
            var request = try requestToDecode()
            progress = request.ownProgressReport()
            var response = try await finished(request)
            let isStreamed = response.body.isStreamed
            if isStreamed { response = response.ending(progress) }
            let value = try await decode(response)
            if !isStreamed { progress?.finish() }
            return (value, response)
        } catch {
            finish(progress)
            throw error.atTheDoor
        }
    }

    /// Sends it and gives the response as it is delivered, without decoding it.
    ///
    /// - Throws: ``HTTPError``; and `CancellationError` when the calling task was cancelled.
    @concurrent
    public func response() async throws -> HTTPResponse {
        var progress: ProgressUpdates.Report?
        do {
            var request = try request()
            progress = request.ownProgressReport()
            return try await finished(request).ending(progress).namedInBody
        } catch {
            finish(progress)
            throw error.atTheDoor
        }
    }

    /// Ends the updates of a request that failed: those of the template, when the request could not be built.
    private func finish(_ progress: ProgressUpdates.Report?) {
        (progress ?? builder.template.options[ProgressReportOption.self])?.finish()
    }

    /// Builds the request.
    ///
    /// The members of the template are checked here because a builder of the caller's need not use the standard one.
    func request() throws(HTTPError) -> HTTPRequest {
        do throws(HTTPError) {
            return try builder.checkedRequest().placed(in: environment)
        } catch {
            throw error.with(request: error.request.placed(in: environment))
        }
    }

    /// The request of which the response will be decoded.
    private func requestToDecode() throws(HTTPError) -> HTTPRequest {
        var request = try request()
        let defect = request[option: TemplateDefectOption.self]
        if let rule = Template._undecodable ?? defect?.undecodable(as: Template.Response.self) {
            throw HTTPError(.invalidRequest, request: request, message: rule)
        }
        request.isDecoded = ResponseDecoding.usesDecoder(for: Template.Response.self)
        return request
    }

    /// The response that the template has finished. A download replaces its file after that.
    private func finished(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try await request.withoutHold.holdingDownload { (request) throws(HTTPError) in
            try await finish(await result(of: request), request: request).savingReplacedBody(of: request)
        }
    }

    /// The response if its status is accepted, else the error that says so.
    private func result(of request: HTTPRequest) async -> Result<HTTPResponse, HTTPError> {
        do throws(HTTPError) {
            return .success(try await loader.load(request).accepted(by: request))
        } catch {
            request.heldDownload?.forget()
            return .failure(error)
        }
    }

    private func finish(
        _ result: Result<HTTPResponse, HTTPError>, request: HTTPRequest
    ) async throws(HTTPError) -> HTTPResponse {
        do {
            return try await builder.template.finish(result)
        } catch {
            let response =
                switch result {
                case .success(let response): await response.withoutStream()
                case .failure(let failure): failure.response
                }
            throw HTTPError(error, request: request, response: response)
        }
    }

    private func decode(_ response: HTTPResponse) async throws(HTTPError) -> Template.Response {
        do {
            return try await builder.template.decode(response)
        } catch {
            throw HTTPError(ofDecoding: error, response: response)
        }
    }
}

extension HTTPResponse {
    /// This response, if its status counts as success.
    ///
    /// - Throws: `.unacceptableStatus`, with the response, whose body is in memory and at most 1 MiB of it.
    func accepted(by request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        if request.accepts(status) { return self }
        let response = await keptInMemory()
        if Task.isCancelled {
            throw HTTPError(.cancelled, request: self.request, response: response, attempts: attempts)
        }
        throw HTTPError(
            .unacceptableStatus, request: self.request, response: response,
            message: "the status is none that counts as success here", attempts: attempts)
    }
}

extension HTTPError {
    /// What a caller at the front door gets: the cancellation of its own task is Swift's, everything else is ours.
    var atTheDoor: any Error { code == .cancelled && Task.isCancelled ? CancellationError() : self }
}

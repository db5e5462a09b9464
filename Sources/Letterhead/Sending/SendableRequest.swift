/// A request that is ready to be sent: a template, its builder, and a loader.
///
/// ```swift
/// let user = try await SendableRequest(GetUser(login: "ada"), over: chain).send()
/// ```
///
/// Sending has these steps, in order: build the request, load it, check the status, call the template's `finish`,
/// decode. The links of the chain determine how the request is loaded; see ``HTTPClient`` for its links.
public struct SendableRequest<Template: RequestTemplate>: Sendable {
    private let builder: any RequestBuilder<Template>
    private let loader: any HTTPLoader
    private var environment: ClientEnvironment?

    /// Creates a request from a template, built by ``StandardRequestBuilder``.
    public init(_ template: Template, over loader: any HTTPLoader) {
        self.init(StandardRequestBuilder(template), over: loader)
    }

    /// Creates a request from a template. Descriptions show it with the environment of a client.
    init(_ template: Template, over loader: any HTTPLoader, in environment: ClientEnvironment?) {
        self.init(template, over: loader)
        self.environment = environment
    }

    /// Creates a request from a builder and its template.
    public init(_ builder: some RequestBuilder<Template>, over loader: any HTTPLoader) {
        self.builder = builder
        self.loader = loader
    }

    /// Sends the request and returns the decoded value.
    ///
    /// - Throws: ``HTTPError``; and `CancellationError` if the calling task was cancelled.
    @discardableResult
    public func send() async throws -> Template.Response { try await sendWithResponse().value }

    /// Sends the request and returns the decoded value with its response.
    ///
    /// - Throws: ``HTTPError``, before anything is sent if the template's response type cannot be decoded and the
    ///   template has no ``RequestTemplate/decode(_:)``; and `CancellationError` if the calling task was cancelled.
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

    /// Sends the request and returns the response without decoding it.
    ///
    /// - Throws: ``HTTPError``; and `CancellationError` if the calling task was cancelled.
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

    /// Ends the progress updates of a failed request. If the request could not be built, those of the template are
    /// ended.
    private func finish(_ progress: ProgressUpdates.Report?) {
        (progress ?? builder.template.options[ProgressReportOption.self])?.finish()
    }

    /// Builds the request.
    ///
    /// The members of the template are checked here, because a custom builder may not use the standard one.
    func request() throws(HTTPError) -> HTTPRequest {
        do throws(HTTPError) {
            return try builder.checkedRequest().placed(in: environment)
        } catch {
            throw error.with(request: error.request.placed(in: environment))
        }
    }

    /// Builds a request whose response will be decoded.
    private func requestToDecode() throws(HTTPError) -> HTTPRequest {
        var request = try request()
        let defect = request[option: TemplateDefectOption.self]
        if let rule = Template._undecodable ?? defect?.undecodable(as: Template.Response.self) {
            throw HTTPError(.invalidRequest, request: request, message: rule)
        }
        request.isDecoded = ResponseDecoding.usesDecoder(for: Template.Response.self)
        return request
    }

    /// Returns the response of the template's `finish`. A download then replaces its file.
    private func finished(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try await request.withoutHold.holdingDownload { (request) throws(HTTPError) in
            try await finish(await result(of: request), request: request).savingReplacedBody(of: request)
        }
    }

    /// Returns the response if its status is accepted, or an error otherwise.
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

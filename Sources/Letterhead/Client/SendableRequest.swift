// SPDX-License-Identifier: MIT
#if canImport(Darwin)
    public import LetterheadFoundation
#elseif Foundation
    public import FoundationNetworking
#endif

/// A template with a builder and a loader, ready to send. An ``HTTPClient`` does the same with its own chain.
///
/// ```swift
/// let user = try await SendableRequest(GetUser(login: "ada"), over: chain).send()
/// ```
///
/// Use it to send a template over a chain that you have composed, or with a custom ``RequestBuilder``. Sending has
/// these steps:
///
/// 1. The builder creates the request from the template.
/// 2. The loader returns the response. If the loader is a chain, its links determine how the request is sent.
///    ``HTTPClient`` lists the links of a client.
/// 3. The status is checked.
/// 4. ``RequestTemplate/finish(_:)`` of the template receives the response or the error.
/// 5. ``RequestTemplate/decode(_:)`` of the template decodes the response.
public struct SendableRequest<Template: RequestTemplate>: Sendable {
    private let template: Template
    /// The builder. Nil for the standard builder.
    private let builder: (any RequestBuilder<Template>)?
    /// The load to begin. Each time the request is sent, a copy begins.
    private let load: Load

    /// Creates a request with the standard builder and without client settings.
    public init(_ template: Template, over loader: any HTTPLoader) { self.init(template, over: loader, for: nil) }

    init(_ template: Template, over loader: any HTTPLoader, for client: HTTPClient?) {
        (self.template, builder) = (template, nil)
        load = Load(over: loader, for: client, template: Template.self)
    }

    /// Creates a request from a builder, which contains the template. It has no client settings.
    public init(_ builder: some RequestBuilder<Template>, over loader: any HTTPLoader) {
        (template, self.builder) = (builder.template, builder)
        load = Load(over: loader, for: nil, template: Template.self)
    }

    /// Sends the request and returns the decoded value.
    ///
    /// - Throws: ``HTTPError``, or `CancellationError` if the calling task was cancelled.
    @discardableResult
    public func send() async throws -> Template.Response { try await sendWithResponse().value }

    /// Sends the request and returns the decoded value with its response. Throws the same errors as ``send()``.
    @concurrent
    public func sendWithResponse() async throws -> (value: Template.Response, response: HTTPResponse) {
        var load = load
        do {
            let decodes = ResponseDecoding.usesDecoder(for: Template.Response.self)
            let request = load.begin(try request(), decodes: decodes)
            let response = try await load.response(to: request) { try await template.finish($0) }
            let value = try await decode(response)
            return (value, try load.end(response))
        } catch {
            throw load.fail(error, ending: template.options.progressUpdates)
        }
    }

    /// Sends the request and returns the response without decoding it. Throws the same errors as ``send()``.
    @concurrent
    public func response() async throws -> HTTPResponse {
        var load = load
        do {
            let request = load.begin(try request())
            let response = try await load.response(to: request) { try await template.finish($0) }
            return try load.end(response)
        } catch {
            throw load.fail(error, ending: template.options.progressUpdates)
        }
    }

    /// Builds the request.
    ///
    /// - Throws: an error whose request has the environment of the client, so that its description shows the server to
    ///   which the request would have been sent.
    func request() throws(HTTPError) -> HTTPRequest {
        do throws(HTTPError) {
            return if let builder { try builder.checkedRequest() } else { try template.requestWithoutEnvironment() }
        } catch {
            var request = error.request
            load.client?.adopt(&request)
            throw error.with(request: request)
        }
    }

    /// Returns the request as the client will send it. Sequences that send it later use it in errors.
    func adoptedRequest() throws(HTTPError) -> HTTPRequest {
        var request = try request()
        load.client?.adopt(&request)
        return request
    }

    @inline(__always)
    private func decode(_ response: HTTPResponse) async throws(HTTPError) -> Template.Response {
        response.request.observation?.recordDecoding(.decodingStart, Template.Response.self)
        do {
            let value = try await template.decode(response)
            response.request.observation?.recordDecoding(.decodingEnd, Template.Response.self)
            return value
        } catch {
            let failure = HTTPError(ofDecoding: error, as: Template.Response.self, response: response)
            response.request.observation?.recordDecoding(.decodingFailed, Template.Response.self, failure)
            throw failure
        }
    }
}

extension HTTPClient {
    /// Builds the request for a template with the environment and settings of this client. Use it to inspect the
    /// request, or to change it before you send it.
    ///
    /// Nothing is sent, and no link changes the request.
    ///
    /// - Throws: `.invalidRequest` if the request cannot be built, and if a closure provides the environment.
    public func request(for template: some RequestTemplate) throws(HTTPError) -> HTTPRequest {
        var request = try sendable(template).adoptedRequest()
        if request.lacksEnvironment {
            throw HTTPError(
                .invalidRequest, request: request,
                message: "a closure provides the environment when a request is sent (apply an environment to the "
                    + "builder's request)")
        }
        let isOwn = request.options.contains(ServerEnvironment.self)
        let environment = isOwn ? request.serverEnvironment : request.context.environment?.environment
        try environment?.complete(&request)
        request.context = LoadContext()
        return request
    }

    #if Foundation || canImport(Darwin)
        /// Builds the request for a template as ``request(for:)`` does, and converts it to a `URLRequest`.
        ///
        /// - Throws: `.invalidRequest` if the request cannot be built or converted. If a closure provides the
        ///   environment, the error is `.invalidRequest`, too: use ``RequestBuilder/urlRequest(in:)``.
        public func urlRequest(for template: some RequestTemplate) throws(HTTPError) -> URLRequest {
            try request(for: template).urlRequest()
        }
    #endif
}

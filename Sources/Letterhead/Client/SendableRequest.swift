// SPDX-License-Identifier: MIT
#if canImport(Darwin)
    public import LetterheadFoundation
#elseif Foundation
    public import FoundationNetworking
#endif

/// A template with a builder and a loader, ready to be sent. Use it to send a template over a chain that you have
/// composed, or with a custom ``RequestBuilder``; an ``HTTPClient`` does the same with a chain of its links.
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
    private let client: HTTPClient?

    public init(_ template: Template, over loader: any HTTPLoader) { self.init(template, over: loader, for: nil) }

    init(_ template: Template, over loader: any HTTPLoader, for client: HTTPClient?) {
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

    /// Sends the request and returns the decoded value with its response. The errors are those of ``send()``.
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

    /// Sends the request and returns the response without decoding it. The errors are those of ``send()``.
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

    private var load: Load {
        Load(over: loader, for: client, template: Template.self)
    }

    /// Builds the request.
    ///
    /// - Throws: an error whose request shows the environment of the client.
    func request() throws(HTTPError) -> HTTPRequest {
        do throws(HTTPError) {
            return if let builder { try builder.checkedRequest() } else {
                try StandardRequestBuilder(template).requestWithoutEnvironment()
            }
        } catch {
            var request = error.request
            client?.adopt(&request)
            throw error.with(request: request)
        }
    }

    /// Returns the request as the client will send it, for errors of sequences that send it later.
    func adoptedRequest() throws(HTTPError) -> HTTPRequest {
        var request = try request()
        client?.adopt(&request)
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

#if Foundation || canImport(Darwin)
    extension HTTPClient {
        /// Builds the request of a template as this client sends it, and converts it to a `URLRequest`. Nothing is sent, and
        /// no link changes the request; the environment and the settings of the client are applied.
        ///
        /// - Throws: `.invalidRequest` if the request cannot be built or converted, and if a closure provides the
        ///   environment: use ``RequestBuilder/urlRequest(in:)``.
        public func urlRequest(for template: some RequestTemplate) throws(HTTPError) -> URLRequest {
            var request = try sendable(template).adoptedRequest()
            if request.lacksEnvironment {
                throw HTTPError(
                    .invalidRequest, request: request,
                    message:
                        "a closure provides the environment when a request is sent; use urlRequest(in:) of a builder")
            }
            if !request.options.contains(ServerEnvironment.self) {
                request.serverEnvironment = request.context.environment?.environment
            }
            return try request.urlRequest()
        }
    }
#endif

// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// Creates a request from a template.
///
/// Write a builder only to build all requests of a kind in a different way, and pass it to
/// `SendableRequest(builder, over: chain)`. A client always uses ``StandardRequestBuilder``. To change one endpoint,
/// write a ``RequestDecorator``. To change every request of a client, write a ``LoaderLink``.
///
/// ```swift
/// struct SignedBuilder<Template: RequestTemplate>: RequestBuilder {
///     let template: Template
///     func request() throws(HTTPError) -> HTTPRequest {
///         var request = try StandardRequestBuilder(template).request()
///         request.headers["X-Signature"] = signature(of: request)
///         return request
///     }
/// }
/// ```
///
/// A builder that creates a `URLRequest` returns `try HTTPRequest(urlRequest)`.
///
/// Law: a builder sends nothing, and throws `.invalidRequest` if it cannot build a request.
public protocol RequestBuilder<Template>: Sendable {
    associatedtype Template: RequestTemplate

    /// The template to build a request from. It is the same each time.
    var template: Template { get }

    /// Builds the request.
    ///
    /// - Throws: `.invalidRequest` if the request cannot be built.
    func request() throws(HTTPError) -> HTTPRequest
}

extension RequestBuilder {
    /// Adds the template and its cookies to the request.
    func checkedRequest() throws(HTTPError) -> HTTPRequest {
        var request = try request()
        request.originate(from: template)
        try request.addTemplateCookies()
        return request
    }
}

/// Builds a request from a template, as a client does. Use it in a custom ``RequestBuilder`` for the parts that you
/// don't change, or in a test to inspect a request without sending it.
///
/// The parts come together by these rules:
///
/// - The path follows the base URL, if there is one, with exactly one slash between them. A path that begins with a
///   slash replaces the base URL path.
/// - The query contains the template query, then, for a GET or HEAD, the parameters, then items from the base URL with
///   names that are still missing.
/// - For other methods, the parameters are sent as a JSON body.
/// - If the template sets an environment, that environment completes the request.
public struct StandardRequestBuilder<Template: RequestTemplate>: RequestBuilder {
    public let template: Template

    /// Creates a builder for a template, without building the request yet.
    public init(_ template: Template) { self.template = template }

    /// Builds the request.
    ///
    /// - Throws: `.invalidRequest` in these cases:
    ///   - The template has parameters and a body, and the method is neither GET nor HEAD.
    ///   - Its `body` isn't an ``HTTPBody``.
    ///   - Its base URL has no scheme or no host, or its environment is invalid.
    ///   - The name or the value of one of its cookies is invalid.
    ///   - It requests a page at the position ``PagePosition/unknown``, or its pagination cannot set a parameter.
    public func request() throws(HTTPError) -> HTTPRequest {
        var request = try template.requestWithoutEnvironment()
        // Checked first, because even an empty environment is expensive to copy.
        if request.options.contains(ServerEnvironment.self) { try request.serverEnvironment?.complete(&request) }
        return request
    }
}

extension RequestTemplate {
    /// Builds the request for a client. Client settings take precedence over the client environment.
    func requestWithoutEnvironment() throws(HTTPError) -> HTTPRequest {
        var request = HTTPRequest(method: method, path: path, query: query, headers: headers, options: options)
        request.originate(from: self)
        if let statuses = acceptedStatuses { request.acceptedStatuses = statuses }
        if Body.self != EmptyBody.self {
            request.body = try body(of: request)
            request.passEncoder()
        }
        try addParameters(to: &request)
        try request.addTemplateCookies()
        if isUnknownPage { throw HTTPError(.invalidRequest, request: request, message: PagePosition.unknownRule) }
        guard let baseURL else { return request }
        request.fill(from: baseURL)
        if request.host != nil { return request }
        throw HTTPError(
            .invalidRequest, request: request,
            message: "the base URL of \(Self.self) has no scheme or no host (write it as https://host/path)")
    }

    private var isUnknownPage: Bool {
        // Checked first, because checking the type does not copy the template.
        guard Self.self is any PaginatedTemplate.Type, let page = self as? any PaginatedTemplate else {
            return false
        }
        return page.position == .unknown
    }

    private func body(of request: HTTPRequest) throws(HTTPError) -> any HTTPBody {
        let body = self.body
        if let body = body as? any HTTPBody { return body }
        let mirror = Mirror(reflecting: body)
        if mirror.displayStyle == .optional, mirror.children.isEmpty { return EmptyBody() }
        throw HTTPError(
            .invalidRequest, request: request,
            message: "the body of \(Self.self) is of type \(Body.self), which is not an HTTPBody")
    }

    private func addParameters(to request: inout HTTPRequest) throws(HTTPError) {
        let parameters = self.parameters
        if let conflict = parameters.conflict {
            throw HTTPError(.invalidRequest, request: request, message: "\(Self.self): \(conflict)")
        }
        guard !parameters.isEmpty else { return }
        if StandardParameters.areQuery(of: request.method) {
            parameters.append(to: &request.query)
        } else if request.body.isEmpty {
            request.body = JSONBody(parameters, encoder: JSONEncoder.standard)
        } else {
            throw HTTPError(
                .invalidRequest, request: request,
                message:
                    "\(Self.self) sets both parameters and body, and a \(request.method) request can send only one")
        }
    }
}

/// Builds the request of `template.multipart(parts)`, with a multipart body (RFC 7578) that replaces the template body.
///
/// If the template has no ``RequestTemplate/boundary``, the builder creates a random boundary once.
public struct MultipartRequestBuilder<Template: RequestTemplate>: RequestBuilder {
    public let template: Template
    private let decorated: WithBody<Template, MultipartBody>

    /// Creates a builder for a body with these parts. By default, the body is a form (`multipart/form-data`).
    public init(_ template: Template, parts: [MultipartBody.Part], subtype: String = "form-data") {
        self.template = template
        decorated = template.multipart(parts, subtype: subtype)
    }

    /// Creates a builder for a form with one part, such as a picture. The API determines the part name. Set a
    /// `filename` if the server should treat the part as a file. Its extension determines the media type, unless you
    /// set a `contentType`.
    public init(
        _ template: Template, data: Data, name: String = "file", filename: String? = nil, contentType: MediaType? = nil
    ) {
        self.init(template, parts: [.data(data, name: name, filename: filename, contentType: contentType)])
    }

    public func request() throws(HTTPError) -> HTTPRequest {
        try StandardRequestBuilder(decorated).request()
    }
}

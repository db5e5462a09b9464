import Foundation

/// Builds a request from the members of a template.
///
/// The URL consists of the base URL, if there is one, and the path. A path that begins with a slash replaces the path
/// of the base URL. Any other path is appended to it, with exactly one slash between them. The query consists of the
/// query of the template, then the parameters if the method is GET or HEAD, then those query items of the base URL
/// whose names have not occurred. For other methods, the parameters are sent as a JSON body.
public struct StandardRequestBuilder<Template: RequestTemplate>: RequestBuilder {
    /// The template.
    public let template: Template

    /// Creates a builder.
    public init(_ template: Template) { self.template = template }

    /// Builds the request.
    ///
    /// - Throws: `.invalidRequest` in these cases:
    ///   - The template has parameters and a body, and the method is neither GET nor HEAD.
    ///   - Its `body` is not an ``HTTPBody``.
    ///   - Its base URL has no scheme or no host.
    ///   - The name or the value of a cookie of the template is invalid.
    ///   - The template requests a page at the position ``PagePosition/unknown``, or its pagination cannot set a
    ///     parameter.
    public func request() throws(HTTPError) -> HTTPRequest {
        var request = HTTPRequest(
            method: template.method, path: template.path, query: template.query, headers: template.headers,
            options: template.options)
        request.originate(from: template)
        if let statuses = template.acceptedStatuses { request.acceptedStatuses = statuses }
        if Template.Body.self != EmptyBody.self { request.body = try body(of: request) }
        try addParameters(to: &request)
        try request.addTemplateCookies()
        if isUnknownPage { throw unknownPage(of: request) }
        if let baseURL = template.baseURL {
            request.fill(from: baseURL)
            guard request.host != nil else { throw baseWithoutHost(of: request) }
        }
        return request
    }

    private func baseWithoutHost(of request: HTTPRequest) -> HTTPError {
        HTTPError(
            .invalidRequest, request: request,
            message: "the base URL of \(Template.self) has no scheme or no host; write it as https://host/path")
    }

    private var isUnknownPage: Bool {
        // The type is checked first, because checking it does not copy the template.
        guard Template.self is any PaginatedTemplate.Type, let page = template as? any PaginatedTemplate else {
            return false
        }
        return page.position == .unknown
    }

    private func unknownPage(of request: HTTPRequest) -> HTTPError {
        HTTPError(
            .invalidRequest, request: request, message: PagePosition.unknownRule)
    }

    private func body(of request: HTTPRequest) throws(HTTPError) -> any HTTPBody {
        let body = template.body
        if let body = body as? any HTTPBody { return body }
        let mirror = Mirror(reflecting: body)
        if mirror.displayStyle == .optional, mirror.children.isEmpty { return EmptyBody() }
        throw HTTPError(
            .invalidRequest, request: request,
            message: "the body of \(Template.self) is of type \(Template.Body.self), which is not an HTTPBody")
    }

    private func addParameters(to request: inout HTTPRequest) throws(HTTPError) {
        let parameters = template.parameters
        if let conflict = parameters.conflict {
            throw HTTPError(.invalidRequest, request: request, message: "\(Template.self): \(conflict)")
        }
        guard !parameters.isEmpty else { return }
        if StandardParameters.areQuery(of: request.method) {
            parameters.append(to: &request.query)
        } else if request.body.isEmpty {
            request.body = JSONBody(parameters)
        } else {
            throw HTTPError(
                .invalidRequest, request: request,
                message:
                    "\(Template.self) sets both parameters and body, and a \(request.method) request can send only one")
        }
    }
}

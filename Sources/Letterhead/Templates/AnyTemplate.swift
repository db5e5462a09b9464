public import Foundation

/// A template whose type does not depend on the wrapped template. Use it to decorate a template conditionally, or to
/// store different templates in a list.
///
/// ```swift
/// var request = AnyTemplate(Get<User>("users/\(login)"))
/// if isTraced { request = AnyTemplate(request.header("X-Trace", "1")) }
/// let user = try await client.send(request)
/// ```
///
/// It behaves like the wrapped template and can be decorated like any other template. Two properties of the wrapped
/// template are lost, because they are part of its type:
///
/// - its ``RequestTemplate/Failure``: use ``HTTPError/failure(as:)``.
/// - its pages: call `.paginated()` on the `AnyTemplate`.
public struct AnyTemplate<Response: Sendable>: RequestTemplate {
    private let base: any RequestTemplate<Response>

    /// Wraps a template.
    public init<Template: RequestTemplate>(_ template: Template) where Template.Response == Response {
        // An AnyTemplate is not wrapped again.
        self = template as? Self ?? AnyTemplate(wrapping: template)
    }

    private init<Template: RequestTemplate>(wrapping template: Template) where Template.Response == Response {
        base = template
    }

    /// The wrapped template.
    var erased: any RequestTemplate { base }

    /// The path of the wrapped template.
    public var path: RequestPath { base.path }
    /// The base URL of the wrapped template.
    public var baseURL: URL? { base.baseURL }
    /// The method of the wrapped template.
    public var method: HTTPMethod { base.method }
    /// The query of the wrapped template.
    public var query: QueryParameters { base.query }
    /// The headers of the wrapped template.
    public var headers: HTTPHeaders { base.headers }
    /// The parameters of the wrapped template.
    public var parameters: RequestParameters {
        var parameters = base.parameters
        // The builder cannot see the position of the page, because this type is not a paginated template.
        if (base as? any PaginatedTemplate)?.position == .unknown { parameters.conflict = PagePosition.unknownRule }
        return parameters
    }
    /// The boundary of the wrapped template.
    public var boundary: String? { base.boundary }
    /// The accepted statuses of the wrapped template.
    public var acceptedStatuses: HTTPStatusSet? { base.acceptedStatuses }

    /// The body of the wrapped template.
    public var body: any HTTPBody {
        func erased(_ template: some RequestTemplate) -> any HTTPBody {
            let body = template.body
            if let body = body as? any HTTPBody { return body }
            return StandardParameters.isEmpty(body) ? EmptyBody() : RefusedBody(type: "\(type(of: body))")
        }
        return erased(base)
    }

    /// The options of the wrapped template.
    public var options: HTTPRequestOptions { base.options }

    /// Calls `decode` of the wrapped template.
    public func decode(_ response: HTTPResponse) async throws -> Response { try await base.decode(response) }

    /// Calls `finish` of the wrapped template.
    public func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse {
        try await base.finish(result)
    }
}

/// The replacement for a body that is not an ``HTTPBody``.
private struct RefusedBody: HTTPBody {
    let type: String

    func encode() throws -> Data { throw HTTPBodyError.invalid("the body has type \(type), which is not an HTTPBody") }
}

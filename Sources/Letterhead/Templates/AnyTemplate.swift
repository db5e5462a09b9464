// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// A template with a type that doesn't depend on the wrapped template. Use it to decorate a template conditionally, or
/// to store different templates in a list.
///
/// ```swift
/// var request = AnyTemplate(Get<User>("users/\(login)"))
/// if isTraced { request = AnyTemplate(request.header("X-Trace", "1")) }
/// let user = try await client.send(request)
/// ```
///
/// It behaves like the wrapped template, and you can decorate it like any other. Only two properties of the wrapped
/// template are lost:
///
/// - the ``RequestTemplate/Failure`` type: decode an error body with ``HTTPError/failure(as:)`` instead.
/// - the pagination: call `.paginated()` or `.paginated(by:)` on the `AnyTemplate`.
public struct AnyTemplate<Response: Sendable>: RequestTemplate {
    private let base: any RequestTemplate<Response>

    /// Wraps a template. An `AnyTemplate` is not wrapped twice.
    public init<Template: RequestTemplate>(_ template: Template) where Template.Response == Response {
        self = template as? Self ?? AnyTemplate(wrapping: template)
    }

    private init<Template: RequestTemplate>(wrapping template: Template) where Template.Response == Response {
        base = template
    }

    var erased: any RequestTemplate { base }

    public var path: RequestPath { base.path }
    public var baseURL: URL? { base.baseURL }
    public var method: HTTPMethod { base.method }
    public var query: QueryParameters { base.query }
    public var headers: HTTPHeaders { base.headers }
    public var parameters: RequestParameters {
        var parameters = base.parameters
        // The builder cannot see the position of the page, because this type isn't a paginated template.
        if (base as? any PaginatedTemplate)?.position == .unknown { parameters.conflict = PagePosition.unknownRule }
        return parameters
    }
    public var boundary: String? { base.boundary }
    public var acceptedStatuses: HTTPStatusSet? { base.acceptedStatuses }

    public var body: any HTTPBody {
        func erased(_ template: some RequestTemplate) -> any HTTPBody {
            let body = template.body
            if let body = body as? any HTTPBody { return body }
            return StandardParameters.isEmpty(body) ? EmptyBody() : RefusedBody(type: "\(type(of: body))")
        }
        return erased(base)
    }

    public var options: HTTPRequestOptions { base.options }

    public func decode(_ response: HTTPResponse) async throws -> Response { try await base.decode(response) }

    public func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse {
        try await base.finish(result)
    }
}

/// A body for a template whose body isn't an ``HTTPBody``. It fails when it is encoded.
private struct RefusedBody: HTTPBody {
    let type: String

    func encode() throws -> Data { throw HTTPBodyError.invalid("the body has type \(type), which is not an HTTPBody") }
}

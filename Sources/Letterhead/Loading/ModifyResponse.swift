/// Changes each response on its way up, whatever its status.
///
/// ```swift
/// ModifyResponse { if $0.status == 418 { $0.status = .ok } }
/// ```
///
/// It is not asked when there is no response; see ``ModifyResult`` for that. The closure may be async and may throw, which
/// fails the load. It may change everything but which request was answered: a response to another one is
/// `.invalidResponse`.
public struct ModifyResponse: LoaderLink {
    private let modify: @Sendable (inout HTTPResponse) async throws -> Void

    /// Makes the link.
    public init(_ modify: @escaping @Sendable (inout HTTPResponse) async throws -> Void) { self.modify = modify }

    /// Has the request answered, and changes the response.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        var response = try await next.load(request)
        do {
            try await modify(&response)
        } catch {
            throw HTTPError(error, request: request, response: await response.keptInMemory())
        }
        return try response.answering(request, by: "ModifyResponse")
    }
}

extension HTTPResponse {
    /// This response, if it answers a request.
    func answering(_ asked: HTTPRequest, by link: String) throws(HTTPError) -> HTTPResponse {
        if request.id == asked.id { return self }
        throw HTTPError(
            .invalidResponse, request: asked,
            message: "\(link) gave the response to another request; change the one that it is given")
    }
}

/// Changes each request on its way down.
///
/// ```swift
/// ModifyRequest { $0.headers["X-Mark"] = "1" }
/// ```
///
/// The closure may be async and may throw, which fails the load before anything is sent. It may change everything but the
/// identity: a request that it replaces by another one is `.invalidRequest`.
public struct ModifyRequest: LoaderLink {
    private let modify: @Sendable (inout HTTPRequest) async throws -> Void

    /// Makes the link.
    public init(_ modify: @escaping @Sendable (inout HTTPRequest) async throws -> Void) { self.modify = modify }

    /// Changes the request, and has it answered.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        var modified = request
        do { try await modify(&modified) } catch { throw HTTPError(error, request: request) }
        guard modified.id == request.id else {
            throw HTTPError(
                .invalidRequest, request: request,
                message: "ModifyRequest replaced the request by another one; change the one that it is given")
        }
        return try await next.load(modified)
    }
}

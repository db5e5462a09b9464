/// A link that changes each request before the next loader receives it.
///
/// ```swift
/// ModifyRequest { $0.headers["X-Mark"] = "1" }
/// ```
///
/// The closure may be async and may throw. If it throws, the request fails with its error, and nothing is sent. It may
/// change everything except the ``HTTPRequest/id``: if it replaces the request with another one, the error is
/// `.invalidRequest`.
public struct ModifyRequest: LoaderLink, CancelledFromOutside {
    private let modify: @Sendable (inout HTTPRequest) async throws -> Void

    /// Creates the link.
    public init(_ modify: @escaping @Sendable (inout HTTPRequest) async throws -> Void) { self.modify = modify }

    var cancelledFromOutside: CancelledRequests { .noRequest }

    /// Changes the request, and calls the next loader.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        var modified = request
        do { try await modify(&modified) } catch { throw HTTPError(error, request: request) }
        guard modified.id == request.id else {
            throw HTTPError(
                .invalidRequest, request: request,
                message: "ModifyRequest replaced the request with another one; modify the request that it receives")
        }
        return try await next.load(modified)
    }
}

/// A link that changes each request before the next loader receives it.
///
/// ```swift
/// ModifyRequest { $0.headers["X-Mark"] = "1" }
/// ```
///
/// The closure may be async and may throw. If it throws, the request fails with its error, and nothing is sent. Modify
/// the request that the closure receives: a new one has none of its options, such as its deadline.
public struct ModifyRequest: LoaderLink {
    private let modify: @Sendable (inout HTTPRequest) async throws -> Void

    /// Creates the link.
    public init(_ modify: @escaping @Sendable (inout HTTPRequest) async throws -> Void) { self.modify = modify }

    /// Changes the request, and calls the next loader.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        var modified = request
        try await request.mappingErrors { try await modify(&modified) }
        return try await next.load(modified)
    }
}

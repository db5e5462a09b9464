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
    private enum Change: Sendable {
        case closure(@Sendable (inout HTTPRequest) async throws -> Void)
        /// A change of the library, which neither suspends nor fails.
        case named(String, @Sendable (inout HTTPRequest) -> Void)
    }

    private let change: Change

    /// Creates the link.
    public init(_ modify: @escaping @Sendable (inout HTTPRequest) async throws -> Void) { change = .closure(modify) }

    /// Creates a link of the library, with a name for descriptions.
    init(named name: String, _ modify: @escaping @Sendable (inout HTTPRequest) -> Void) {
        change = .named(name, modify)
    }

    var cancelledFromOutside: CancelledRequests { if case .named = change { .all } else { .noRequest } }

    /// Changes the request, and calls the next loader.
    @inline(__always)
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        var modified = request
        switch change {
        case .closure(let modify):
            do { try await modify(&modified) } catch { throw HTTPError(error, request: request) }
        case .named(_, let modify): modify(&modified)
        }
        guard modified.id == request.id else {
            throw HTTPError(
                .invalidRequest, request: request,
                message: "ModifyRequest replaced the request with another one; modify the request that it receives")
        }
        return try await next.load(modified)
    }
}

extension ModifyRequest: CustomStringConvertible {
    /// The name of the link, such as `ModifyRequest` or `ModifyRequest.acceptHeader`.
    public var description: String {
        if case .named(let name, _) = change { "ModifyRequest.\(name)" } else { "ModifyRequest" }
    }
}

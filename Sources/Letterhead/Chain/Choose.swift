// SPDX-License-Identifier: MIT
/// Chooses one of several links for each request, by its name. For a single link with a condition,
/// ``LoaderLink/when(otherwise:_:)`` is simpler.
///
/// ```swift
/// Choose(among: ["fast": fast, "careful": careful]) { request in request[option: Lane.self] }
/// ```
///
/// If the closure returns nil, the next loader is called. If it throws, the request fails with its error, and nothing
/// is sent.
public struct Choose: CompositeLink, CustomStringConvertible {
    private let choose: @Sendable (HTTPRequest) async throws -> String?

    /// All links in their original order, whether or not a request uses them.
    public let parts: [(name: String?, link: any LoaderLink)]

    /// Creates a link from a closure that returns the name of one of the links, or nil for none. An unknown name is
    /// `.invalidRequest`.
    public init(
        among links: KeyValuePairs<String, any LoaderLink>,
        _ choose: @escaping @Sendable (HTTPRequest) async throws -> String?
    ) {
        parts = links.map { ($0.key, $0.value) }
        self.choose = choose
    }

    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard let name = try await request.withHTTPErrors({ try await choose(request) }) else {
            return try await next.load(request)
        }
        guard let link = parts.first(where: { $0.name == name })?.link else {
            throw HTTPError(
                .invalidRequest, request: request, message: "Choose has no link with the name that its closure returned"
            )
        }
        return try await link.load(request, next: next)
    }

    /// The links with their names: `Choose(fast: Throttle(4) | careful: Throttle(1))`.
    public var description: String { chainName(of: self, parts: parts) }
}

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
public struct Choose: LoaderLink, CustomStringConvertible {
    private let link: CompositeLink

    /// Creates a link from a closure that returns the name of one of the links, or nil for none. An unknown name is
    /// `.invalidRequest`.
    public init(
        among links: KeyValuePairs<String, any LoaderLink>,
        _ choose: @escaping @Sendable (HTTPRequest) async throws -> String?
    ) {
        let parts = links.map { (name: $0.key as String?, link: $0.value) }
        link = CompositeLink("Choose", parts) { request, next in
            guard let name = try await choose(request) else { return try await next.load(request) }
            guard let link = parts.first(where: { $0.name == name })?.link else {
                throw HTTPError(
                    .invalidRequest, request: request,
                    message: "Choose has no link with the name that its closure returned")
            }
            return try await link.load(request, next: next)
        }
    }

    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        try await link.load(request, next: next)
    }

    public func reset(next: any HTTPLoader) async { await link.reset(next: next) }

    /// The links with their names: `Choose(fast: Throttle(4) | careful: Throttle(1))`.
    public var description: String { link.description }
}

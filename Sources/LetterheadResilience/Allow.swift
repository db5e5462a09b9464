// SPDX-License-Identifier: MIT
public import Letterhead

/// Lets a client send only the endpoints that you list, so that types decide what leaves your program.
///
/// ```swift
/// let client = HTTPClient(environment: .production, links: Allow(GetUser.self, CreateOrder.self))
/// ```
///
/// A request for a different template, and a request without a template, fails with `.invalidRequest` before a host is
/// looked up or a credential is fetched. The error names the type and the route. Decorators and `AnyTemplate` don't
/// matter: the template inside them counts.
///
/// - Declare a type for each endpoint. `Allow(Get<User>.self)` lets the client send `Get<User>` with any path.
/// - The link judges the request of your call once. It doesn't judge redirects, and requests that links send for their
///   own needs, such as one for a token. Limit the redirects with the redirect policy of the client.
/// - `print(client)` and `client.explain(_:)` show the list in the chain. Neither sends anything.
public struct Allow: LoaderLink {
    private let types: [any RequestTemplate.Type]

    /// Creates a link. Without types, it refuses each request.
    public init(_ types: any RequestTemplate.Type...) { self.types = types }

    /// - Throws: `.invalidRequest` if the request was built from none of the templates, and the errors of the next
    ///   loader.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let layers = Array(sequence(first: request.template) { $0?.inner }.compactMap(\.self))
        guard !layers.contains(where: { layer in types.contains { $0 == type(of: layer) } }) else {
            return try await next.load(request)
        }
        let name = layers.last.map { "\(type(of: $0)) (\(request.path.route ?? "no route"))" }
        throw HTTPError(
            .invalidRequest, request: request,
            message: "\(name ?? "a request without a template") is not allowed to leave (list its type in Allow)")
    }
}

extension Allow: CustomStringConvertible {
    /// The names of the types.
    public var description: String { "Allow(\(types.map { "\($0)" }.joined(separator: ", ")))" }
}

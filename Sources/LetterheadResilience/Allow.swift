// SPDX-License-Identifier: MIT
public import Letterhead

/// Lets a client send only the endpoints that you list, so that types decide what leaves your program.
///
/// ```swift
/// let client = HTTPClient(environment: .production, links: Allow(GetUser.self, CreateOrder.self))
/// ```
///
/// A request for a different template, or a request without a template, fails with `.invalidRequest` before a host is
/// looked up or a credential is fetched. The error names the type and the route. If a template is wrapped in decorators
/// or in `AnyTemplate`, the template inside them counts.
///
/// - Declare a type for each endpoint. `Allow(Get<User>.self)` lets the client send `Get<User>` with any path.
/// - The link checks the request of your call once. It doesn't check redirects, and it doesn't check requests that
///   other links send for themselves, such as one for a token. Limit the redirects with the redirect policy of the
///   client.
/// - `print(client)` and `client.explain(_:)` show the list in the chain. Neither sends anything.
public struct Allow: LoaderLink {
    private let types: [any RequestTemplate.Type]

    /// Creates a link. Without types, it refuses each request.
    public init(_ types: any RequestTemplate.Type...) { self.types = types }

    /// Sends the request if it was built from one of the listed templates.
    ///
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
    /// The names of the listed types, as a chain prints them: `Allow(GetUser, CreateOrder)`.
    public var description: String { "Allow(\(types.map { "\($0)" }.joined(separator: ", ")))" }
}

/// A way to sign requests. This type represents all kinds of authentication.
///
/// ```swift
/// HTTPClient(environment: .production, authentication: .bearer(token))       // every request of a client
/// GetReport().authenticated(by: .basic(username: "ada", password: password)) // one template
/// request.authentication = .anonymous                                       // one request
/// ```
///
/// Use ``basic(username:password:allowedOrigins:)``, ``bearer(_:allowedOrigins:)``, an API key, `oauth2`, or a custom
/// method (``method(_:allowedOrigins:link:)``). The authentication of a request replaces that of its client entirely.
///
/// Credentials belong to origins and are sent to no other. List the origins in `allowedOrigins`; an origin with `http`
/// is allowed only if it is listed. Without `allowedOrigins`:
///
/// - A client's credentials belong to the origin of the client's environment. A request that sets an environment or a
///   base URL of another origin is sent without them. A client without an environment does not send them.
/// - If the environment of a client is a closure, the client's credentials belong to the first origin for which they
///   are used. To use them with several environments, list the origins.
/// - Stored credentials, such as tokens, belong to the origin for which they were obtained, until a reset.
/// - The credentials of a request belong to the origin to which the request is addressed.
/// - All of them are sent only over https or to the local machine.
///
/// With or without `allowedOrigins`, credentials are removed when a redirect leads to another origin, and they are not
/// sent again during the attempt. If a request sets credentials that must not be sent to its origin, it fails
/// with ``HTTPError/Code/cannotAuthenticate``, and nothing is sent.
public struct HTTPAuthentication: Sendable {
    /// The kind of authentication. At most one method signs a request.
    enum Choice: Sendable {
        case anonymous
        case named(Name)
        case composite([Name: HTTPAuthentication], default: Name?)
        case method(SigningMethod)
    }

    let choice: Choice

    init(_ choice: Choice) { self.choice = choice }

    /// No authentication: requests are sent unchanged. A request with an `Authorization` header keeps it.
    public static let anonymous = HTTPAuthentication(.anonymous)
}

extension HTTPAuthentication: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of method, without credentials.
    public var description: String {
        switch choice {
        case .anonymous: "anonymous"
        case .named(let name): "named \(name)"
        case .composite(let methods, let name):
            "composite of " + methods.keys.map(\.rawValue).sorted().joined(separator: ", ")
                + (name.map { ", \($0) by default" } ?? "")
        case .method(let method): method.name
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// A mirror that contains only the description, so that `dump` prints no secrets.
    public var customMirror: Mirror { Mirror(describing: self) }
}

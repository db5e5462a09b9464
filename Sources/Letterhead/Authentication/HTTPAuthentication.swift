/// Who signs requests, and with what: the one type for all of it.
///
/// ```swift
/// HTTPClient(environment: .production, authentication: .bearer(token))       // every request of a client
/// GetReport().authenticated(by: .basic(username: "ada", password: password)) // one template
/// request.authentication = .anonymous                                       // one request
/// ```
///
/// Choose: ``basic(username:password:allowedOrigins:)``, ``bearer(_:allowedOrigins:)``, an API key, `oauth2`, or a method
/// of your own with ``method(_:allowedOrigins:link:)``. What a request says replaces what its client says, whole.
///
/// Credentials belong to origins and are sent to no other. `allowedOrigins` names them; an origin with `http` in it is
/// allowed by being named. Without `allowedOrigins`:
///
/// - A client's credentials belong to the origin of the client's environment. A request that brings an environment or a
///   base URL of another origin is sent without them. A client without an environment signs nothing.
/// - A client whose environment is a closure keeps its credentials at the first origin that they are used for. To use them
///   with several environments, name the origins.
/// - Credentials that are remembered, such as tokens, belong to the origin for which they were obtained, until a reset.
/// - The credentials of a request belong to the origin that the request is addressed to.
/// - All of them are sent over https only, or to this machine itself.
///
/// Named or not, credentials are withheld when a redirect leads to another origin, and nothing puts them back for the rest
/// of the load. A request that asks for credentials where they must not go is ``HTTPError/Code/cannotAuthenticate``, and
/// nothing is sent.
public struct HTTPAuthentication: Sendable {
    /// What it does; a request is signed by at most one method.
    enum Choice: Sendable {
        case anonymous
        case named(Name)
        case composite([Name: HTTPAuthentication], default: Name?)
        case method(SigningMethod)
    }

    let choice: Choice

    init(_ choice: Choice) { self.choice = choice }

    /// Nobody signs: requests go out as they are, with the `Authorization` that they bring themselves, if any.
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

    /// The description only, so that no dump prints a secret.
    public var customMirror: Mirror { Mirror(describing: self) }
}

/// The names whose values are redacted in descriptions, errors and logs.
///
/// The value of a secret name is written as `<redacted>`; user and password of a URL are always redacted. A log
/// (``PrintLoader``) contains methods, URLs, headers, statuses and sizes, and at the level `bodies` the first 512 bytes
/// of a text. The description of an ``HTTPError`` contains no headers, body or query values. It includes the
/// `LocalizedError.errorDescription` of an underlying error, redacted with the standard names. Other values are not
/// redacted, so add your names to a request:
///
/// ```swift
/// request.redaction = .standard.adding(headers: ["X-Tenant"], parameters: ["account"])
/// ```
public struct Redaction: Sendable, Hashable {
    /// Headers whose values are secret.
    public private(set) var headers: Set<HTTPHeaders.Name>
    /// Names whose values are secret in queries, forms and JSON documents, in lower case.
    public private(set) var parameters: Set<String>
    private let bareParameters: Set<[UInt8]>
    /// Whether names that contain a secret part are secret as well.
    private let knowsParts: Bool

    /// The standard names: Authorization, Cookie, Set-Cookie, Proxy-Authorization and keys; tokens, secrets, passwords
    /// and codes.
    ///
    /// A name that is not in these lists is split into its words. It is secret if one word, or several adjacent words
    /// together, are secret: `X-Access-Token`, `PRIVATE-TOKEN`, `X-Goog-Api-Key`, `DPoP`, `auth_token`, `jwt`, `otp`
    /// and `privateKey`.
    public static let standard = Redaction(
        headers: [
            .authorization, .cookie, .setCookie, .proxyAuthorization, "X-Api-Key", "Api-Key", "X-Auth-Token",
            "X-Amz-Security-Token",
        ],
        parameters: [
            "access_token", "api_key", "apikey", "assertion", "client_assertion", "client_secret", "code",
            "code_verifier", "id_token", "key", "passwd", "password", "refresh_token", "secret", "sig", "signature",
            "token", "x-amz-credential", "x-amz-security-token", "x-amz-signature",
        ], knowsParts: true)

    /// Creates a set of secret names that does not include the standard names and does not judge names by their parts.
    public init(headers: Set<HTTPHeaders.Name>, parameters: Set<String>) {
        self.init(headers: headers, parameters: parameters, knowsParts: false)
    }

    private init(headers: Set<HTTPHeaders.Name>, parameters: Set<String>, knowsParts: Bool) {
        self.headers = headers
        self.parameters = Set(parameters.map { ASCII.lowercased($0) })
        bareParameters = Set(parameters.map { Self.bare($0.utf8) })
        self.knowsParts = knowsParts
    }

    /// Returns a set with further names.
    public func adding(headers: Set<HTTPHeaders.Name> = [], parameters: Set<String> = []) -> Redaction {
        Redaction(
            headers: self.headers.union(headers), parameters: self.parameters.union(parameters), knowsParts: knowsParts)
    }

    /// Returns whether the values of a header are secret.
    public func isSecret(header name: HTTPHeaders.Name) -> Bool {
        headers.contains(name) || knowsParts && SecretName.matches(name.rawValue.utf8)
    }

    /// Returns whether the values of a query item, a form field or a JSON member are secret.
    ///
    /// Case, `_` and `-` are ignored: `accessToken` is as secret as `access_token`. In a nested name, each component is
    /// compared: `user[password]`, `user.password` and `token[]` are secret.
    public func isSecret(parameter name: String) -> Bool {
        name.utf8.split { "[].".utf8.contains($0) }.contains { bareParameters.contains(Self.bare($0)) }
            || knowsParts && SecretName.matches(name.utf8)
    }

    private static func bare(_ name: some Sequence<UInt8>) -> [UInt8] {
        name.filter { !"_-".utf8.contains($0) }.map { ASCII.lowercased($0) }
    }

    /// The replacement for a secret value.
    package static let placeholder = "<redacted>"
}

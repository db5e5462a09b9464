// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation

extension OAuth2 {
    /// An authorization server: its endpoints, and what it requires.
    ///
    /// Find it with ``discovered(from:issuer:over:)``. If the server publishes no metadata, create it yourself. A
    /// server is `Codable`, so you can store it and needn't discover it at each launch.
    ///
    /// Each endpoint must use https, or be on this machine. When a stored server is decoded, it is checked by the same
    /// rules as discovered metadata.
    public struct Server: Sendable, Hashable {
        /// The issuer identifier (RFC 8414, 2), or nil if the server publishes no metadata.
        public var issuer: String?
        /// The endpoint that issues and refreshes tokens.
        public var tokenEndpoint: URL
        /// The page where a person signs in. Nil if the server has none: ``OAuth2/SignIn`` values with a page then
        /// fail.
        public var authorizationEndpoint: URL?
        /// Issues the codes for devices without a browser (RFC 8628). Nil if the server doesn't support them.
        public var deviceAuthorizationEndpoint: URL?
        /// Revokes tokens (RFC 7009). Nil if the server can't revoke tokens.
        public var revocationEndpoint: URL?
        /// The API that tokens are requested for. Each token request contains it as `resource` (RFC 8707). Nil if the
        /// server issues tokens that aren't limited to one API.
        public var resource: URL?
        /// The scopes that the API names. A sign-in requests them unless you pass other scopes. If the set is empty,
        /// the server chooses the scopes.
        public var scope: Set<String>
        /// Whether each callback must contain the issuer (RFC 9207). If it is false, an issuer in a callback is
        /// checked, but may be missing. Default: false.
        public var sendsIssuer: Bool
        /// The server metadata, for members that have no property here. These members are not checked.
        public var metadata: [String: JSONValue]
        /// Whether only the API has named the server. The API could name any server, so no client secret is sent there.
        var isNamedByResource = false

        /// Creates a server from endpoints that you know, for example from the documentation of a service.
        ///
        /// Use ``OAuth2/discovered(issuer:over:)`` if the server publishes metadata.
        public init(
            tokenEndpoint: URL, authorizationEndpoint: URL? = nil, deviceAuthorizationEndpoint: URL? = nil,
            revocationEndpoint: URL? = nil, issuer: String? = nil, resource: URL? = nil, scope: Set<String> = [],
            sendsIssuer: Bool = false, metadata: [String: JSONValue] = [:]
        ) {
            (self.tokenEndpoint, self.authorizationEndpoint) = (tokenEndpoint, authorizationEndpoint)
            (self.deviceAuthorizationEndpoint, self.revocationEndpoint) =
                (deviceAuthorizationEndpoint, revocationEndpoint)
            (self.issuer, self.resource, self.scope) = (issuer, resource, scope)
            (self.sendsIssuer, self.metadata) = (sendsIssuer, metadata)
        }
    }
}

extension OAuth2.Server {
    /// Reads server metadata.
    ///
    /// - Parameter source: the URL of the metadata document.
    /// - Throws: a failure if a required member is missing, or if an endpoint URL isn't secure enough for secrets.
    init(
        metadata: [String: JSONValue], issuer: String, from source: URL
    ) throws(HTTPAuthentication.Failure) {
        func endpoint(_ name: String) throws(HTTPAuthentication.Failure) -> URL? {
            guard let member = metadata[name], member != .null else { return nil }
            guard let url = member.string.flatMap({ URL(string: $0, encodingInvalidCharacters: false) }),
                url.canFollow(source)
            else {
                throw HTTPAuthentication.Failure(
                    .malformed,
                    "the \(name) in the metadata of the authorization server does not use https, or has a user part")
            }
            return url
        }
        guard let tokenEndpoint = try endpoint("token_endpoint") else {
            throw HTTPAuthentication.Failure(
                .malformed, "the metadata of the authorization server contains no token_endpoint")
        }
        self.init(
            tokenEndpoint: tokenEndpoint, authorizationEndpoint: try endpoint("authorization_endpoint"),
            deviceAuthorizationEndpoint: try endpoint("device_authorization_endpoint"),
            revocationEndpoint: try endpoint("revocation_endpoint"), issuer: issuer,
            sendsIssuer: metadata["authorization_response_iss_parameter_supported"]?.bool ?? false,
            metadata: metadata)
    }
}

extension OAuth2.Server: Codable {
    private enum CodingKeys: String, CodingKey {
        case issuer, tokenEndpoint, authorizationEndpoint, deviceAuthorizationEndpoint, revocationEndpoint
        case resource, scope, sendsIssuer, metadata, isNamedByResource
    }

    /// Decodes a stored server, and checks it by the same rules as discovered metadata.
    ///
    /// - Throws: `DecodingError` if a value is missing, or if discovery would refuse the issuer or a URL.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func url(_ key: CodingKeys, from source: URL?) throws -> URL? {
            guard let url = try values.decodeIfPresent(URL.self, forKey: key) else { return nil }
            guard url.canFollow(source ?? url) else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: values, debugDescription: "the URL does not use https, or has a user part")
            }
            return url
        }
        let issuer = try values.decodeIfPresent(String.self, forKey: .issuer)
        let home = issuer.flatMap { Self.url(ofIssuer: $0) }
        guard issuer == nil || home != nil else {
            throw DecodingError.dataCorruptedError(
                forKey: .issuer, in: values, debugDescription: "the issuer identifier \(Self.issuerRule)")
        }
        self.init(
            tokenEndpoint: try url(.tokenEndpoint, from: home) ?? values.decode(URL.self, forKey: .tokenEndpoint),
            authorizationEndpoint: try url(.authorizationEndpoint, from: home),
            deviceAuthorizationEndpoint: try url(.deviceAuthorizationEndpoint, from: home),
            revocationEndpoint: try url(.revocationEndpoint, from: home), issuer: issuer,
            resource: try url(.resource, from: nil),
            scope: try values.decode(Set<String>.self, forKey: .scope),
            sendsIssuer: try values.decode(Bool.self, forKey: .sendsIssuer),
            metadata: try values.decode([String: JSONValue].self, forKey: .metadata))
        isNamedByResource = try values.decode(Bool.self, forKey: .isNamedByResource)
    }
}

extension OAuth2.Server {
    static let issuerRule = "must be an https URL without a query or a fragment (RFC 8414, 2)"

    /// Returns an issuer identifier as a URL, or nil if the identifier violates ``issuerRule``.
    ///
    /// - Parameter source: the URL of the document that named the issuer. Default: nil (it is trusted).
    static func url(ofIssuer issuer: String, namedBy source: URL? = nil) -> URL? {
        guard let url = URL(string: issuer, encodingInvalidCharacters: false), url.canFollow(source ?? url),
            !issuer.utf8.contains(where: { "?#".utf8.contains($0) })
        else { return nil }
        return url
    }

    /// Returns those words that can be scopes (RFC 6749, 3.3).
    static func scopes(_ words: [String]) -> Set<String> {
        Set(words.filter { !$0.isEmpty && ASCII.isPrintable($0) })
    }

    /// Whether all endpoints are at the issuer origin.
    var isOfOneOrigin: Bool {
        let home = issuer.flatMap { URL(string: $0, encodingInvalidCharacters: false)?.origin }
        let endpoints = [tokenEndpoint, authorizationEndpoint, deviceAuthorizationEndpoint, revocationEndpoint]
        return home != nil && endpoints.allSatisfy { $0 == nil || $0?.origin == home }
    }
}

extension URL {
    var origin: HTTPOrigin? { HTTPRequest(url: self).origin }

    var hasUserPart: Bool { URLParts(absoluteString).userInfo != nil }

    /// Whether a program that trusts a document may follow a URL in that document.
    ///
    /// It may follow a URL with https, and a URL with http on this machine if the document is on this machine, too.
    /// Otherwise, a remote server could have requests sent to services on this machine. A URL with a user part is
    /// refused, because it could show a person a different server name.
    func canFollow(_ source: URL) -> Bool {
        guard let origin, origin.isSecure, !hasUserPart else { return false }
        return origin.scheme == "https" || origin.scheme == "http" && source.origin?.scheme == "http"
    }
}

// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation

extension OAuth2 {
    /// An authorization server: its endpoints, and what it requires. Find it with ``discovered(from:issuer:over:)``. If
    /// the server publishes no metadata, create it yourself.
    ///
    /// An endpoint must use https, or be on this machine.
    public struct Server: Sendable, Hashable {
        /// The issuer identifier (RFC 8414, 2), or nil if the server publishes no metadata.
        public var issuer: String?
        public var tokenEndpoint: URL
        /// The page where a person signs in.
        public var authorizationEndpoint: URL?
        /// Issues codes for devices without a browser (RFC 8628).
        public var deviceAuthorizationEndpoint: URL?
        /// Revokes tokens (RFC 7009).
        public var revocationEndpoint: URL?
        /// The API that tokens are requested for, sent as `resource` (RFC 8707). nil if the server's tokens don't
        /// belong to one API.
        public var resource: URL?
        /// The scopes that the API names, which are requested by default. If it is empty, the server chooses.
        public var scope: Set<String>
        /// Whether each callback must contain the issuer (RFC 9207).
        public var sendsIssuer: Bool
        /// The server's metadata, for members without a property. It is unchecked.
        public var metadata: [String: JSONValue]
        /// Whether only the API has named the server. It could name any server, so no client secret is sent there.
        var isNamedByResource = false

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
    /// Reads a server's metadata.
    ///
    /// - Parameter source: the document's URL.
    /// - Throws: a failure if a required member is missing, or if secrets must not be sent to an endpoint's URL.
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

extension OAuth2.Server {
    /// Whether all endpoints are at the issuer's origin.
    var isOfOneOrigin: Bool {
        let home = issuer.flatMap { URL(string: $0, encodingInvalidCharacters: false)?.origin }
        let endpoints = [tokenEndpoint, authorizationEndpoint, deviceAuthorizationEndpoint, revocationEndpoint]
        return home != nil && endpoints.allSatisfy { $0 == nil || $0?.origin == home }
    }
}

extension URL {
    var origin: HTTPOrigin? { HTTPRequest(url: self).origin }

    var hasUserPart: Bool { URLParts(absoluteString).userInfo != nil }

    /// Whether a program that has trusted a document may follow a URL in it: a URL with https, or with http on this
    /// machine in a document on this machine. Otherwise, a server could have requests sent to services on this machine.
    /// A user part could show a person another server's name.
    func canFollow(_ source: URL) -> Bool {
        guard let origin, origin.isSecure, !hasUserPart else { return false }
        return origin.scheme == "https" || origin.scheme == "http" && source.origin?.scheme == "http"
    }
}

import Foundation

/// Where a person signs in, and who shows it.
struct AuthorizationPage: Sendable {
    let endpoint: URL
    let redirectURI: URL
    let issuer: String?
    let parameters: [String: String]
    let open: @Sendable (URL) async throws -> URL

    /// What the token endpoint needs of a person who has signed in.
    struct Proof: Sendable {
        let code: Secret
        let verifier: Secret
    }

    /// Has a person sign in, once, with a state and a verifier of its own.
    func proof(
        client: OAuth2.Client, scope: Set<String>, random: @Sendable (Int) -> [UInt8]
    ) async throws(OAuth2.Failure) -> Proof {
        let state = RandomBytes.base64URL(random(32))
        let verifier = RandomBytes.base64URL(random(32))
        let url = try url(client: client, scope: scope, state: state, verifier: verifier)
        let callback: URL
        do {
            callback = try await open(url)
        } catch {
            throw OAuth2.Failure(.refused, "the sign-in was given up or could not be shown", underlying: error)
        }
        let code = try AuthorizationCallback(callback, of: self).code(state: state)
        return Proof(code: code, verifier: Secret(verifier))
    }

    /// The page with the request in its query (RFC 6749, 4.1.1; RFC 7636, 4.3); never `plain`.
    private func url(
        client: OAuth2.Client, scope: Set<String>, state: String, verifier: String
    ) throws(OAuth2.Failure) -> URL {
        var request = HTTPRequest(url: endpoint)
        guard let origin = request.origin, AllowedOrigins.isSafe(origin), redirectURI.fragment == nil else {
            throw OAuth2.Failure(
                .misconfigured, "the authorization endpoint is not https, or the redirect URI has a fragment")
        }
        for (name, value) in parameters.sorted(by: { $0.key < $1.key }) { request.query[name] = value }
        let challenge = RandomBytes.base64URL(SHA256Hash.hash(Array(verifier.utf8)))
        request.query["response_type"] = "code"
        request.query["client_id"] = client.id
        request.query["redirect_uri"] = redirectURI.absoluteString
        request.query["scope"] = scope.isEmpty ? nil : scope.sorted().joined(separator: " ")
        request.query["state"] = state
        request.query["code_challenge"] = challenge
        request.query["code_challenge_method"] = "S256"
        guard let url = try? request.url() else {
            throw OAuth2.Failure(.misconfigured, "the authorization endpoint's URL is malformed")
        }
        return url
    }
}

/// The URL that an authorization server led back to; anyone could have made it, so every part is checked.
struct AuthorizationCallback {
    private let page: AuthorizationPage
    private let callback: URLParts
    private let expected: URLParts

    init(_ url: URL, of page: AuthorizationPage) {
        self.page = page
        callback = URLParts(url.absoluteString)
        expected = URLParts(page.redirectURI.absoluteString)
    }

    /// The code, when everything is as it must be.
    ///
    /// The state is looked at first: without it, no word of the URL counts, not even its error (RFC 6749, 10.12).
    func code(state: String) throws(OAuth2.Failure) -> Secret {
        guard isRedirectURI else { throw refused("it is not the redirect URI") }
        guard try value(of: "state") == state else { throw refused("its state is not the one that was sent") }
        try checkIssuer()
        if let error = try value(of: "error") {
            throw OAuth2.Failure(
                .refused, "the authorization server answered \(OAuth2.Failure.printable(error))", code: error,
                detail: try value(of: "error_description").map { Secret($0) })
        }
        guard let code = try value(of: "code"), !code.isEmpty else { throw refused("it has no code") }
        return Secret(code)
    }

    /// Scheme, authority and path byte for byte, and the redirect URI's own query items, each as it was.
    private var isRedirectURI: Bool {
        callback.scheme == expected.scheme && callback.authority == expected.authority && callback.path == expected.path
            && Set(Self.items(expected)).isSubset(of: Self.items(callback))
    }

    private func checkIssuer() throws(OAuth2.Failure) {
        let issuer = try value(of: "iss")
        if let known = page.issuer {
            guard issuer == known else { throw refused("its issuer is not the one that was asked (RFC 9207)") }
        } else if let issuer {
            guard let origin = HTTPOrigin(URLParts(issuer)),
                origin == HTTPOrigin(URLParts(page.endpoint.absoluteString))
            else { throw refused("its issuer is not of the page's origin; give the grant the issuer (RFC 9207)") }
        }
    }

    /// The only value of a name, nil without one; two of a name are one too many (RFC 6749, 3.1).
    private func value(of name: String) throws(OAuth2.Failure) -> String? {
        let values = Self.items(callback).compactMap { item -> String? in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                PercentEncoding.unescape($0.replacing("+", with: " "))
            }
            return parts.first == name ? parts.dropFirst().first ?? "" : nil
        }
        guard values.count < 2 else { throw refused("it has a parameter twice") }
        return values.first
    }

    private static func items(_ parts: URLParts) -> [Substring] { parts.query?.split(separator: "&") ?? [] }

    private func refused(_ rule: String) -> OAuth2.Failure {
        OAuth2.Failure(.malformed, "the callback is refused: \(rule)")
    }
}

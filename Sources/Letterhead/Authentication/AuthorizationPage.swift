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

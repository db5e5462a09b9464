// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

struct AuthorizationPage: Sendable {
    let endpoint: URL
    let redirectURI: URL
    let issuer: String?
    /// Whether each callback must contain the issuer. If not, an issuer in a callback must still be this one.
    var requiresIssuer = true
    let parameters: [String: String]
    let open: @Sendable (URL) async throws -> URL

    /// Has a person sign in, and returns the form that exchanges the authorization code for tokens (RFC 6749, 4.1.3).
    func form(
        client: OAuth2.Client, scope: Set<String>, random: @Sendable (Int) -> [UInt8]
    ) async throws(HTTPAuthentication.Failure) -> [(String, String)] {
        let state = RandomBytes.base64URL(random(32))
        let verifier = RandomBytes.base64URL(random(32))
        let url = try url(client: client, scope: scope, state: state, verifier: verifier)
        let callback: URL
        do {
            callback = try await open(url)
        } catch let error as HTTPAuthentication.Failure {
            throw error
        } catch {
            throw HTTPAuthentication.Failure(
                .refused, "the sign-in was cancelled or its page could not be shown: \(HTTPError.summary(of: error))",
                underlying: error)
        }
        let code = try AuthorizationCallback(callback, of: self).code(state: state)
        return [
            ("grant_type", "authorization_code"), ("code", code.reveal()), ("redirect_uri", redirectURI.absoluteString),
            ("code_verifier", verifier),
        ]
    }

    /// Returns the page URL, with the authorization request in its query (RFC 6749, 4.1.1, and RFC 7636, 4.3). The
    /// challenge method is never `plain`.
    private func url(
        client: OAuth2.Client, scope: Set<String>, state: String, verifier: String
    ) throws(HTTPAuthentication.Failure) -> URL {
        var request = HTTPRequest(url: endpoint)
        guard let origin = request.origin, origin.isSecure, redirectURI.fragment == nil,
            URLParts(endpoint.absoluteString).userInfo == nil
        else {
            throw HTTPAuthentication.Failure(
                .misconfigured,
                "the authorization endpoint does not use https or has a user part, or the redirect URI has a fragment")
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
            throw HTTPAuthentication.Failure(.misconfigured, "the authorization endpoint's URL is malformed")
        }
        return url
    }
}

/// The URL that the authorization server redirected to. Anyone can create such a URL, so this type checks every part of
/// it.
struct AuthorizationCallback {
    private let page: AuthorizationPage
    private let callback: URLParts
    private let expected: URLParts

    init(_ url: URL, of page: AuthorizationPage) {
        self.page = page
        callback = URLParts(url.absoluteString)
        expected = URLParts(page.redirectURI.absoluteString)
    }

    /// Returns the authorization code. The state is checked before all other parameters: if it differs, no parameter
    /// can be trusted, not even an error (RFC 6749, 10.12).
    func code(state: String) throws(HTTPAuthentication.Failure) -> Secret {
        guard isRedirectURI else { throw refused("its URL is not the redirect URI") }
        guard try value(of: "state")?.isSame(as: state) == true else {
            throw refused("its state differs from the state of the request")
        }
        try checkIssuer()
        if let error = try value(of: "error") {
            let detail = try value(of: "error_description")
            throw HTTPAuthentication.Failure(
                .refused,
                "the authorization server responded with "
                    + HTTPAuthentication.Failure.printable(error, detail, hiding: [state]),
                code: error, detail: detail.map { Secret($0) })
        }
        guard let code = try value(of: "code"), !code.isEmpty else { throw refused("it contains no code") }
        return Secret(code)
    }

    /// Whether scheme, authority and path are the same bytes as in the redirect URI, and its query items are all
    /// present.
    private var isRedirectURI: Bool {
        callback.scheme == expected.scheme && callback.authority.bytes == expected.authority.bytes
            && callback.path.isSame(as: expected.path)
            && Set(Self.items(expected)).isSubset(of: Self.items(callback))
    }

    private func checkIssuer() throws(HTTPAuthentication.Failure) {
        let issuer = try value(of: "iss")
        if let known = page.issuer {
            guard issuer?.isSame(as: known) ?? !page.requiresIssuer else {
                throw refused("its issuer differs from the issuer of the grant (RFC 9207)")
            }
        } else if let issuer {
            guard let origin = try? HTTPRequest(issuer).origin, origin == page.endpoint.origin else {
                throw refused("its issuer is not at the origin of the page (pass the issuer to the grant, RFC 9207)")
            }
        }
    }

    /// Returns the value of a parameter, or nil if the callback lacks it. A parameter that occurs twice is an error
    /// (RFC 6749, 3.1).
    private func value(of name: String) throws(HTTPAuthentication.Failure) -> String? {
        let items = PercentEncoding.formItems(of: callback.query ?? "").filter { $0.name.isSame(as: name) }
        guard items.count < 2 else { throw refused("the parameter \(name) occurs more than once") }
        return items.first?.value
    }

    private static func items(_ parts: URLParts) -> [[UInt8]] {
        parts.query?.split(at: "&").map { Array($0.utf8) } ?? []
    }

    private func refused(_ rule: String) -> HTTPAuthentication.Failure {
        HTTPAuthentication.Failure(.malformed, "the callback of the sign-in was refused: \(rule)")
    }
}

// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead

/// A ``MockOAuth2Server``'s endpoints.
struct OAuth2Endpoint: Sendable {
    let tokens: OAuth2Tokens
    let clientID: String
    let clientSecret: String?

    /// The authorization endpoint (RFC 6749, 4.1.1). A request without a known client or a redirect URI is not
    /// redirected.
    func authorize(_ request: MockServer.Request) -> MockServer.Response {
        guard request.queryValue("client_id")?.isSame(as: clientID) == true,
            let redirect = request.queryValue("redirect_uri")
        else {
            return .text("unknown client_id, or no redirect_uri", status: .badRequest)
        }
        var query = QueryParameters()
        query["state"] = request.queryValue("state")
        if request.queryValue("deny") != nil {
            query["error"] = "access_denied"
        } else if request.queryValue("response_type")?.isSame(as: "code") != true {
            query["error"] = "unsupported_response_type"
        } else if let challenge = request.queryValue("code_challenge"),
            request.queryValue("code_challenge_method")?.isSame(as: "S256") == true
        {
            query["code"] = tokens.add(
                OAuth2Tokens.Code(challenge: challenge, redirectURI: redirect, scope: request.queryValue("scope")))
        } else {
            query["error"] = "invalid_request"
        }
        let separator = redirect.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        return MockServer.Response(status: .found, headers: [.location: "\(redirect)\(separator)\(query.escaped)"])
    }

    /// The token endpoint (RFC 6749, 3.2).
    func token(_ request: MockServer.Request) throws -> MockServer.Response {
        let form = Self.form(request.body)
        guard isClient(request, form) else { return try refuseClient() }
        switch form["grant_type"] {
        case "client_credentials": return try answer(tokens.issue(scope: form["scope"], withRefresh: false))
        case "authorization_code":
            guard let code = form["code"].flatMap({ tokens.take(code: $0) }), code.redirectURI == form["redirect_uri"],
                let verifier = form["code_verifier"],
                RandomBytes.base64URL(SHA256Hash.hash(Array(verifier.utf8))) == code.challenge
            else { return try refusal("invalid_grant") }
            return try answer(tokens.issue(scope: code.scope, withRefresh: true))
        case "refresh_token":
            guard let issue = form["refresh_token"].flatMap({ tokens.rotate($0) }) else {
                return try refusal("invalid_grant")
            }
            return try answer(issue)
        case "urn:ietf:params:oauth:grant-type:device_code":
            guard let device = tokens.poll(form["device_code"] ?? "") else { return try refusal("expired_token") }
            guard device.isApproved else { return try refusal("authorization_pending") }
            return try answer(tokens.issue(scope: device.scope, withRefresh: true))
        default: return try refusal("unsupported_grant_type")
        }
    }

    /// The device authorization endpoint (RFC 8628, 3.1).
    func device(_ request: MockServer.Request) throws -> MockServer.Response {
        let form = Self.form(request.body)
        guard form["client_id"] == clientID else { return try refuseClient() }
        let (device, user) = tokens.addDevice(scope: form["scope"])
        return try .json(
            [
                "device_code": .string(device), "user_code": .string(user), "expires_in": 600, "interval": 1,
                "verification_uri": "https://example.com/device",
            ] as JSONValue)
    }

    private func isClient(_ request: MockServer.Request, _ form: [String: String]) -> Bool {
        guard let clientSecret else { return form["client_id"] == clientID }
        if form["client_id"] == clientID, form["client_secret"] == clientSecret { return true }
        let pair = [clientID, clientSecret].map { PercentEncoding.escape($0, .unreserved) }.joined(separator: ":")
        return request.headers[.authorization]?.isSame(as: "Basic \(Data(pair.utf8).base64EncodedString())") == true
    }

    private func answer(_ issue: OAuth2Tokens.Issue) throws -> MockServer.Response {
        var body: JSONValue = ["access_token": .string(issue.access), "token_type": "Bearer"]
        body["expires_in"] = .int(tokens.lifetime.components.seconds)
        if let refresh = issue.refresh { body["refresh_token"] = .string(refresh) }
        if let scope = issue.scope { body["scope"] = .string(scope) }
        var response = try MockServer.Response.json(body)
        response.headers[.cacheControl] = "no-store"
        return response
    }

    private func refuseClient() throws -> MockServer.Response {
        let secret = clientSecret == nil ? "" : " and its secret, in Authorization or in the form"
        let rule = "expected the client \(clientID)\(secret)"
        return try .json(["error": "invalid_client", "error_description": rule], status: .unauthorized)
    }

    private func refusal(_ code: String, _ status: HTTPStatus = .badRequest) throws -> MockServer.Response {
        try .json(["error": code], status: status)
    }

    private static func form(_ body: Data) -> [String: String] {
        let items = PercentEncoding.formItems(of: String(decoding: body, as: UTF8.self)).filter {
            ASCII.isASCII($0.name) && $0.value.isQuicklyCompared
        }
        return Dictionary(items.map { ($0.name, $0.value) }) { first, _ in first }
    }
}

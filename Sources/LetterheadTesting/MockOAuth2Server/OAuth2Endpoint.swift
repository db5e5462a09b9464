// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead
import Synchronization

/// The endpoints of a ``MockOAuth2Server``.
struct OAuth2Endpoint: Sendable {
    let tokens: OAuth2Tokens
    let clientID: String
    let clientSecret: String?

    /// The authorization endpoint (RFC 6749, 4.1.1). It doesn't redirect a request with an unknown client or without a
    /// redirect URI.
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

/// The codes and tokens of a ``MockOAuth2Server``.
///
/// This type is a class because requests and tests change the same tokens.
final class OAuth2Tokens: Sendable {
    struct Code: Sendable {
        let challenge: String
        let redirectURI: String
        let scope: String?
    }

    /// The tokens in one response.
    struct Issue: Sendable {
        let access: String
        let refresh: String?
        let scope: String?
    }

    private struct State {
        var last = 0
        var codes: [String: Code] = [:]
        var access: [String: (family: Int, end: Duration)] = [:]
        var refresh: [String: (family: Int, scope: String?)] = [:]
        var usedRefresh: [String: Int] = [:]
        var devices: [String: (userCode: String, scope: String?, isApproved: Bool)] = [:]

        mutating func next(_ name: String) -> String {
            last += 1
            return "\(name)-\(last)"
        }
    }

    let lifetime: Duration
    private let timeline: Timeline
    private let state = Mutex(State())

    init(lifetime: Duration, clock: any Clock<Duration>) {
        self.lifetime = lifetime
        timeline = Timeline(clock)
    }

    func add(_ code: Code) -> String {
        state.withLock { state in
            let name = state.next("code")
            state.codes[name] = code
            return name
        }
    }

    /// Removes and returns a code, so that it can be used only once (RFC 6749, 4.1.2).
    func take(code: String) -> Code? { state.withLock { $0.codes.removeValue(forKey: code) } }

    /// Issues tokens. If `family` is nil, they belong to a new sign-in.
    func issue(scope: String?, family: Int? = nil, withRefresh: Bool) -> Issue {
        let end = timeline.now + lifetime
        return state.withLock { state in
            let access = state.next("access")
            let family = family ?? state.last
            state.access[access] = (family, end)
            let refresh = withRefresh ? state.next("refresh") : nil
            if let refresh { state.refresh[refresh] = (family, scope) }
            return Issue(access: access, refresh: refresh, scope: scope)
        }
    }

    /// Replaces a refresh token with new tokens. If the token was already used, this revokes all tokens from its
    /// sign-in and returns nil (RFC 9700, 4.14.2).
    func rotate(_ token: String) -> Issue? {
        let sign = state.withLock { state in
            if let sign = state.refresh.removeValue(forKey: token) {
                state.usedRefresh[token] = sign.family
                return sign as (family: Int, scope: String?)?
            }
            guard let family = state.usedRefresh[token] else { return nil }
            state.access = state.access.filter { $0.value.family != family }
            state.refresh = state.refresh.filter { $0.value.family != family }
            return nil
        }
        return sign.map { issue(scope: $0.scope, family: $0.family, withRefresh: true) }
    }

    func isValid(_ authorization: String?) -> Bool {
        guard let authorization, let (scheme, token) = authorization.cut(at: " "), ASCII.keyword(scheme) == "bearer",
            ASCII.isPrintable(String(token))
        else { return false }
        let now = timeline.now
        return state.withLock { $0.access[String(token)].map { $0.end > now } ?? false }
    }

    func addDevice(scope: String?) -> (device: String, user: String) {
        state.withLock { state in
            let device = state.next("device")
            let user = state.next("USER")
            state.devices[device] = (user, scope, false)
            return (device, user)
        }
    }

    func approve(_ userCode: String) {
        state.withLock { state in
            for (device, entry) in state.devices where entry.userCode == userCode {
                state.devices[device]?.isApproved = true
            }
        }
    }

    /// Returns the device state, or nil for an unknown device. An approved device is removed, because it receives its
    /// tokens now.
    func poll(_ device: String) -> (scope: String?, isApproved: Bool)? {
        state.withLock { state in
            guard let entry = state.devices[device] else { return nil }
            if entry.isApproved { state.devices[device] = nil }
            return (entry.scope, entry.isApproved)
        }
    }

    func revokeAccess() { state.withLock { $0.access = [:] } }

    func revokeAll() {
        state.withLock { state in
            (state.access, state.refresh, state.codes, state.devices) = ([:], [:], [:], [:])
        }
    }
}

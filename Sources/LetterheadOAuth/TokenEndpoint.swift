// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// Calls the token endpoint and reads its response (RFC 6749, 3.2 and 5).
struct TokenEndpoint: Sendable {
    struct Grant: Sendable {
        let accessToken: Secret
        let refreshToken: Secret?
        let scope: Set<String>?
        let lifetime: Duration?
        /// The other members in the response.
        let members: [String: JSONValue]
    }

    private static let longestAnswer = 1 << 20

    let url: URL
    let client: OAuth2.Client
    /// Where tokens may be sent. Nil if they may be sent only to the origin that they are obtained for.
    let origins: [URL]?
    let parameters: [String: String]
    /// The token type, which is also the authentication scheme that sends the tokens.
    var type = "Bearer"

    /// Requests tokens once, without redirects or retries.
    func tokens(
        _ form: [(String, String)], over next: any HTTPLoader
    ) async throws(HTTPAuthentication.Failure) -> Grant {
        try TokenAnswer.grant(in: await answer(to: form, at: url, of: "the token endpoint", over: next), of: type)
    }

    /// Sends a form once to an endpoint on the server. Returns the response body, if the response is successful and has
    /// no `error`.
    ///
    /// - Parameter name: what error messages call the endpoint.
    func answer(
        to form: [(String, String)], at url: URL, of name: String, over next: any HTTPLoader
    ) async throws(HTTPAuthentication.Failure) -> Data {
        let sent = form.filter { $0.0 != "grant_type" }.map(\.1) + parameters.values
        return try await Self.answer(
            to: request(form, to: url, of: name), of: name, hiding: sent + [client.secret?.reveal() ?? ""], over: next)
    }

    /// Sends a request with secrets once. Returns the response body, if the response is successful and has no `error`.
    ///
    /// - Parameter sent: the values that the error description redacts.
    static func answer(
        to request: HTTPRequest, of name: String, hiding sent: [String], over next: any HTTPLoader
    ) async throws(HTTPAuthentication.Failure) -> Data {
        var request = request
        request.isSecret = true
        request.headers[.accept] = "application/json"
        // The request may hold the token store lock, so it must not wait in a throttle queue.
        (request.timeout, request.throttling) = (.seconds(30), .never)
        request.responseLimit = longestAnswer
        let status: HTTPStatus
        let body: Data
        do {
            let response = try await next.load(request)
            status = response.status
            body = try await response.body.data(upTo: longestAnswer)
        } catch let error as HTTPError {
            // The request contained secrets, so the error is thrown without it.
            var bare = request
            (bare.headers, bare.body) = ([:], EmptyBody())
            let failure = HTTPError(
                error.code, request: bare, message: error.message, mayHaveBeenSent: error.mayHaveBeenSent)
            throw HTTPAuthentication.Failure(
                .unavailable, "\(name) could not be reached: \(HTTPError.summary(of: failure))",
                underlying: failure)
        } catch {
            throw HTTPAuthentication.Failure(
                .unavailable, "the response of \(name) is truncated or too large")
        }
        // Some servers report errors with a successful status.
        let answer = ServerAnswer(body)
        guard status.isSuccess, answer?.errorCode == nil else {
            throw TokenAnswer.refusal(status, answer, of: name, hiding: sent)
        }
        return body
    }

    private func request(
        _ form: [(String, String)], to url: URL, of name: String
    ) throws(HTTPAuthentication.Failure) -> HTTPRequest {
        var request = HTTPRequest(method: .post, url: url)
        guard let origin = request.origin, origin.isSecure || origins?.contains(where: { $0.origin == origin }) == true
        else {
            throw HTTPAuthentication.Failure(
                .misconfigured, "\(name) does not use https (to allow http, add its origin to allowedOrigins)")
        }
        var form = form
        let own = Set(form.map(\.0)).union(["client_id", "client_secret"])
        form += parameters.filter { !own.contains($0.key) }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        switch (client.secret, client.authentication) {
        case (let secret?, .basic):
            let pair = [client.id, secret.reveal()].map { PercentEncoding.escape($0, .unreserved) }
            let joined = Data(pair.joined(separator: ":").utf8).base64EncodedString()
            request.headers.setSecret("Basic " + joined, for: .authorization)
        case (let secret?, .form): form += [("client_id", client.id), ("client_secret", secret.reveal())]
        case (nil, _): form.append(("client_id", client.id))
        }
        request.body = FormBody(form.map { URLQueryItem(name: $0.0, value: $0.1) })
        request.headers[.contentType] = "application/x-www-form-urlencoded"
        return request
    }
}

/// The members in a response from an authorization server. The body is a JSON object, or a form, which some servers
/// send.
struct ServerAnswer {
    let members: [String: JSONValue]

    /// Returns nil for other bodies, and for a form in which a name is not a token or occurs twice.
    init?(_ body: Data, allowsForm: Bool = true) {
        if let members = (try? JSONDecoder().value(of: JSONValue.self, from: body))?.object {
            self.members = members
            return
        }
        let items = allowsForm ? PercentEncoding.formItems(of: String(decoding: body, as: UTF8.self)) : []
        guard !items.isEmpty, items.allSatisfy({ ASCII.isToken($0.name) }) else { return nil }
        members = Dictionary(items.map { ($0.name, .string($0.value)) }) { first, _ in first }
        guard members.count == items.count else { return nil }
    }

    func text(_ name: String) throws(HTTPAuthentication.Failure) -> String? {
        switch members[name] {
        case nil, .null: return nil
        case .string(let text): return text
        default: throw Self.malformed(name)
        }
    }

    /// A number of seconds, which some servers send as a string.
    func seconds(_ name: String) throws(HTTPAuthentication.Failure) -> Duration? {
        guard let member = members[name], member != .null else { return nil }
        guard let number = member.double ?? member.string.flatMap(Double.init), number.isFinite else {
            throw Self.malformed(name)
        }
        return Duration(limiting: number)
    }

    private static func malformed(_ name: String) -> HTTPAuthentication.Failure {
        HTTPAuthentication.Failure(.malformed, "\(name) in the response of the authorization server is malformed")
    }

    /// The member `error` (RFC 6749, 5.2). Nil if it is empty or not a string, because some servers send it like this
    /// with a success.
    var errorCode: String? { members["error"]?.string.flatMap { $0.isEmpty ? nil : $0 } }
}

enum TokenAnswer {
    /// The members that have a property in ``TokenEndpoint/Grant``, so that ``OAuth2/Tokens/members`` doesn't contain
    /// them.
    private static let ownMembers = ["access_token", "token_type", "refresh_token", "scope", "expires_in"]

    /// Reads a token response (RFC 6749, 5.1). Some servers leave out the type. Their token counts as a bearer token.
    static func grant(in body: Data, of type: String = "Bearer") throws(HTTPAuthentication.Failure)
        -> TokenEndpoint.Grant
    {
        guard let answer = ServerAnswer(body), let token = try answer.text("access_token").map({ Secret($0) }) else {
            throw HTTPAuthentication.Failure(.malformed, "the response of the token endpoint violates RFC 6749, 5.1")
        }
        guard ASCII.equalIgnoringCase(try answer.text("token_type") ?? "Bearer", type) else {
            throw HTTPAuthentication.Failure(
                .malformed, "the token endpoint issued a token of a type other than \(ASCII.lowercased(type))")
        }
        guard token.value(of: type) != nil else {
            throw HTTPAuthentication.Failure(
                .malformed,
                "the response of the token endpoint is invalid: the bearer token is empty or contains characters other "
                    + "than visible ASCII")
        }
        return TokenEndpoint.Grant(
            accessToken: token,
            refreshToken: try answer.text("refresh_token").flatMap { $0.isEmpty ? nil : Secret($0) },
            scope: try answer.text("scope").map(scopes), lifetime: try answer.seconds("expires_in"),
            members: answer.members.filter { !ownMembers.contains($0.key) })
    }

    /// Splits a list of scopes. Spaces separate them (RFC 6749, 3.3), but some servers write commas, with or without
    /// spaces.
    private static func scopes(_ text: String) -> Set<String> {
        let words = text.split(at: " ")
        let hasCommas = words.count < 2 || words.contains { $0.begins(with: ",") || $0.ends(with: ",") }
        let scopes = hasCommas ? words.flatMap { $0.split(at: ",") } : words
        return Set(scopes.map { ASCII.trimmed($0) }.filter(ASCII.isPrintable))
    }

    /// Creates the failure for a refused request.
    ///
    /// - Parameters:
    ///   - name: what the message calls the endpoint.
    ///   - sent: the values that were sent. The error description redacts them, because some servers quote a refused
    ///     token.
    static func refusal(
        _ status: HTTPStatus, _ answer: ServerAnswer?, of name: String, hiding sent: [String]
    ) -> HTTPAuthentication.Failure {
        let code = answer?.errorCode
        let detail = answer?.members["error_description"]?.string
        let isPassing =
            [408, 425, 429].contains(status.code) || (500...599).contains(status.code)
            || ["server_error", "temporarily_unavailable"].contains { code?.isSame(as: $0) == true }
        // Only a well-formed code can tell that the grant has ended.
        let isMalformed = code.map { !ASCII.allBytes(of: $0) { (0x20...0x7E).contains($0) } } ?? false
        return HTTPAuthentication.Failure(
            isPassing ? .unavailable : isMalformed ? .malformed : .refused,
            "\(name) responded with \(status) and "
                + HTTPAuthentication.Failure.printable(code, detail, hiding: sent),
            code: code,
            status: status,
            detail: detail.map { Secret($0) })
    }
}

extension HTTPAuthentication.Failure {
    /// Whether the refresh token can no longer be used: the server has refused it without a code, or with a code that
    /// ends a grant. After any other error, which may be temporary, the tokens are kept.
    var endsSession: Bool {
        guard reason == .refused, let status, status.isSuccess || [400, 401].contains(status.code) else { return false }
        // GitHub sends the last two codes.
        let codes = ["invalid_grant", "bad_refresh_token", "bad_verification_code"]
        return code.map { code in codes.contains { $0.isSame(as: code) } } ?? true
    }
}

extension HTTPAuthentication.Failure {
    /// Returns the parts of an error response that may be printed: the code, if an RFC registers it, and the
    /// description. Any other code could be a secret.
    ///
    /// - Parameter sent: the values that were sent. They are redacted, because some servers quote a refused token.
    static func printable(_ code: String?, _ description: String?, hiding sent: [String]) -> String {
        let code = code.map { isRegistered($0) ? $0 : "an unregistered error code" } ?? "no error code"
        guard let description else { return code }
        return "\(code): \(Redaction.standard.words(description, upTo: 200, hiding: sent))"
    }

    private static func isRegistered(_ code: String) -> Bool { ASCII.isASCII(code) && registered.contains(code) }

    private static let registered: Set<String> = [
        "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
        "invalid_scope", "access_denied", "unsupported_response_type", "server_error", "temporarily_unavailable",
        "interaction_required", "login_required", "account_selection_required", "consent_required", "invalid_target",
        "authorization_pending", "slow_down", "expired_token", "unsupported_token_type", "invalid_redirect_uri",
        "invalid_client_metadata", "invalid_software_statement", "unapproved_software_statement", "invalid_token",
    ]
}

extension Secret {
    /// Returns the value of `Authorization`, or nil if the token contains characters that can't be sent (RFC 6750,
    /// 2.1).
    func value(of type: String) -> String? {
        let token = reveal()
        return !token.isEmpty && ASCII.isPrintable(token) ? "\(type) \(token)" : nil
    }
}

// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// Calls the token endpoint and reads its response (RFC 6749, 3.2 and 5).
struct TokenEndpoint: Sendable {
    struct Grant: Sendable {
        let accessToken: Secret
        let refreshToken: Secret?
        let scope: Set<String>?
        let lifetime: Duration?
        /// All members of the response but those above.
        let members: [String: JSONValue]
    }

    /// The maximum size of a response, in bytes.
    private static let longestAnswer = 1 << 20

    let url: URL
    let client: OAuth2.Client
    let origins: AllowedOrigins
    let parameters: [String: String]

    /// Requests tokens once, without redirects or retries.
    func tokens(
        _ form: [(String, String)], over next: any HTTPLoader, for original: HTTPRequest?
    ) async throws(HTTPAuthentication.Failure) -> Grant {
        try TokenAnswer.grant(in: await answer(to: form, at: url, of: "the token endpoint", over: next, for: original))
    }

    /// Sends a form once to an endpoint of the server, and returns the body of a successful response.
    ///
    /// - Parameter name: names the endpoint in messages.
    func answer(
        to form: [(String, String)], at url: URL, of name: String, over next: any HTTPLoader, for original: HTTPRequest?
    ) async throws(HTTPAuthentication.Failure) -> Data {
        let request = try request(form, to: url, of: name)
        let status: HTTPStatus
        let body: Data
        do {
            let response =
                if let original {
                    try await next.load(request, as: "refresh", for: original)
                } else {
                    try await next.load(request)
                }
            status = response.status
            body = try await response.body.data(upTo: Self.longestAnswer)
        } catch let error as HTTPError {
            // The request contained secrets; the error is thrown without it.
            var bare = HTTPRequest(method: .post, url: url)
            bare.isSecret = true
            let failure = HTTPError(
                error.code, request: bare, message: error.message, mayHaveBeenSent: error.mayHaveBeenSent)
            throw HTTPAuthentication.Failure(
                .unavailable, "\(name) could not be reached: \(HTTPError.summary(of: failure))",
                underlying: failure)
        } catch {
            throw HTTPAuthentication.Failure(
                .unavailable, "the response of \(name) is truncated or too large")
        }
        guard status.isSuccess else {
            let sent = form.filter { $0.0 != "grant_type" }.map(\.1) + parameters.values
            throw TokenAnswer.refusal(status, body, of: name, hiding: sent + [client.secret?.reveal() ?? ""])
        }
        return body
    }

    private func request(
        _ form: [(String, String)], to url: URL, of name: String
    ) throws(HTTPAuthentication.Failure) -> HTTPRequest {
        var request = HTTPRequest(method: .post, url: url)
        guard let origin = request.origin, origins.areSafe(for: origin) else {
            throw HTTPAuthentication.Failure(
                .misconfigured, "\(name) does not use https; to allow http, add its origin to allowedOrigins")
        }
        request.isSecret = true
        request.headers[.accept] = "application/json"
        request.timeout = .seconds(30)
        request.responseLimit = Self.longestAnswer
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

enum TokenAnswer {
    /// The members of a token response (RFC 6749, 5.1).
    private struct Success: Decodable {
        let access_token: String
        let token_type: String
        let refresh_token: String?
        let scope: String?
        let expires_in: Seconds?
    }

    /// The members of a token response that have a property in ``TokenEndpoint/Grant``.
    private static let ownMembers = ["access_token", "token_type", "refresh_token", "scope", "expires_in"]

    /// The members of an error response (RFC 6749, 5.2).
    private struct Refusal: Decodable {
        let error: String?
        let error_description: String?
    }

    /// A number, which some servers send as a string.
    private struct Seconds: Decodable {
        let value: Duration

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            let number = try (try? container.decode(Double.self)) ?? Double(container.decode(String.self))
            guard let number, number.isFinite
            else { throw DecodingError.dataCorruptedError(in: container, debugDescription: "no number") }
            // The lifetime is limited to 100 years, so that no calculation with it can overflow.
            value = .seconds(min(max(number, 0), 3_155_760_000))
        }
    }

    static func grant(in body: Data) throws(HTTPAuthentication.Failure) -> TokenEndpoint.Grant {
        guard let answer = try? JSONDecoder().decode(Success.self, from: body) else {
            throw HTTPAuthentication.Failure(.malformed, "the response of the token endpoint violates RFC 6749, 5.1")
        }
        guard ASCII.equalIgnoringCase(answer.token_type, "bearer") else {
            throw HTTPAuthentication.Failure(
                .malformed, "the token endpoint issued a token of a type other than bearer")
        }
        let token = Secret(answer.access_token)
        if case .failure(let rule) = token.bearerHeaderValue {
            throw HTTPAuthentication.Failure(.malformed, "the response of the token endpoint is invalid: \(rule)")
        }
        var members = (try? JSONDecoder().decode([String: JSONValue].self, from: body)) ?? [:]
        for name in ownMembers { members[name] = nil }
        return TokenEndpoint.Grant(
            accessToken: token,
            refreshToken: answer.refresh_token.flatMap { $0.isEmpty ? nil : Secret($0) },
            scope: answer.scope.map { Set($0.split(at: " ").map(String.init).filter(ASCII.isPrintable)) },
            lifetime: answer.expires_in?.value, members: members)
    }

    /// A 400 or 401 with `invalid_grant`, or without a registered error code, invalidates the refresh token. Other
    /// errors of the client or the server may be temporary, so the tokens are kept.
    ///
    /// - Parameters:
    ///   - name: names the endpoint in the message.
    ///   - sent: the values that were sent, and are redacted in the description of the error, because some servers quote
    ///     a refused token.
    static func refusal(
        _ status: HTTPStatus, _ body: Data, of name: String, hiding sent: [String]
    ) -> HTTPAuthentication.Failure {
        let answer = try? JSONDecoder().decode(Refusal.self, from: body)
        let code = answer?.error
        let isKnown = code.map(HTTPAuthentication.Failure.isRegistered) ?? false
        let endsSession = [400, 401].contains(status.code) && (!isKnown || code?.isSame(as: "invalid_grant") == true)
        let isPassing = [408, 425, 429].contains(status.code) || (500...599).contains(status.code)
        var failure = HTTPAuthentication.Failure(
            isPassing ? .unavailable : .refused,
            "\(name) responded with \(status) and "
                + HTTPAuthentication.Failure.printable(code, answer?.error_description, hiding: sent),
            code: code,
            status: status,
            detail: answer?.error_description.map { Secret($0) })
        failure.endsSession = endsSession
        return failure
    }
}

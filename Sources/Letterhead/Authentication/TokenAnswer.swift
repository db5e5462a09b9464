import Foundation

/// Reads what a token endpoint says, and trusts none of it.
enum TokenAnswer {
    /// The members of RFC 6749, 5.1.
    private struct Success: Decodable {
        let access_token: String
        let token_type: String
        let refresh_token: String?
        let scope: String?
        let expires_in: Seconds?
    }

    /// The members of RFC 6749, 5.2.
    private struct Refusal: Decodable {
        let error: String?
        let error_description: String?
    }

    /// A number, also where a server writes it as a text.
    private struct Seconds: Decodable {
        let value: Duration

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            let number = try (try? container.decode(Double.self)) ?? Double(container.decode(String.self))
            guard let number, number.isFinite
            else { throw DecodingError.dataCorruptedError(in: container, debugDescription: "no number") }
            // A hundred years are as good as any longer time, and fit into every type.
            value = .seconds(min(max(number, 0), 3_155_760_000))
        }
    }

    /// The tokens in an answer.
    static func grant(in body: Data) throws(OAuth2.Failure) -> TokenEndpoint.Grant {
        guard let answer = try? JSONDecoder().decode(Success.self, from: body) else {
            throw OAuth2.Failure(.malformed, "the token endpoint's answer is no token response of RFC 6749, 5.1")
        }
        guard ASCII.equalIgnoringCase(answer.token_type, "bearer") else {
            throw OAuth2.Failure(.malformed, "the token endpoint gave a token that is no bearer token")
        }
        let token = Secret(answer.access_token)
        if case .failure(let rule) = token.bearerHeaderValue {
            throw OAuth2.Failure(.malformed, "the token endpoint's answer cannot be used: \(rule)")
        }
        return TokenEndpoint.Grant(
            accessToken: token,
            refreshToken: answer.refresh_token.flatMap { $0.isEmpty ? nil : Secret($0) },
            scope: answer.scope.map { Set($0.split(separator: " ").map(String.init)) },
            lifetime: answer.expires_in?.value)
    }

    /// Why an answer brings no tokens.
    ///
    /// A 400 or 401 that says `invalid_grant`, or nothing that is known, is the end of a refresh token; what else is
    /// wrong, with the client or the server, may be mended, and costs nobody the tokens.
    static func refusal(_ status: HTTPStatus, _ body: Data) -> OAuth2.Failure {
        let answer = try? JSONDecoder().decode(Refusal.self, from: body)
        let code = answer?.error
        let isKnown = code.map { OAuth2.Failure.registered.contains($0) } ?? false
        let endsSession = [400, 401].contains(status.code) && (!isKnown || code == "invalid_grant")
        let isPassing = [408, 425, 429].contains(status.code) || (500...599).contains(status.code)
        return OAuth2.Failure(
            isPassing ? .unavailable : .refused,
            "the token endpoint answered \(status) with \(OAuth2.Failure.printable(code))", code: code, status: status,
            detail: answer?.error_description.map { Secret($0) }, endsSession: endsSession)
    }
}

import Foundation

/// Asks the token endpoint, and reads its answer (RFC 6749, 3.2 and 5).
struct TokenEndpoint: Sendable {
    /// What it gave out.
    struct Grant: Sendable {
        let accessToken: Secret
        let refreshToken: Secret?
        let scope: Set<String>?
        let lifetime: Duration?
    }

    /// No answer is read further, in bytes.
    private static let longestAnswer = 1 << 20

    let url: URL
    let client: OAuth2.Client
    let origins: AllowedOrigins
    let parameters: [String: String]

    /// Asks for tokens once; redirects are not followed, and nothing is tried again.
    func tokens(_ form: [(String, String)], over next: any HTTPLoader) async throws(OAuth2.Failure) -> Grant {
        let request = try request(form)
        let status: HTTPStatus
        let body: Data
        do {
            let response = try await next.load(request)
            status = response.status
            body = try await response.body.data(upTo: Self.longestAnswer)
        } catch let error as HTTPError {
            // The request held secrets; the error goes on without it.
            var bare = HTTPRequest(method: .post, url: url)
            bare.isSecret = true
            let failure = HTTPError(
                error.code, request: bare, message: error.message, mayHaveBeenSent: error.mayHaveBeenSent)
            throw OAuth2.Failure(
                .unavailable, "the token endpoint could not be reached: \(HTTPError.summary(of: failure))",
                underlying: failure)
        } catch {
            throw OAuth2.Failure(.unavailable, "the token endpoint's answer broke off or is too large")
        }
        guard status.isSuccess else { throw TokenAnswer.refusal(status, body) }
        return try TokenAnswer.grant(in: body)
    }

    private func request(_ form: [(String, String)]) throws(OAuth2.Failure) -> HTTPRequest {
        var request = HTTPRequest(method: .post, url: url)
        guard let origin = request.origin, origins.areSafe(for: origin) else {
            throw OAuth2.Failure(
                .misconfigured, "the token endpoint is not https; to allow that, name its origin in allowedOrigins")
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

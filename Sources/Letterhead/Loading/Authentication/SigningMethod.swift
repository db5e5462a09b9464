/// One way to sign requests: the link that does it, and where its credentials belong.
///
/// A class, because a reset must find the one whose remembered credentials all copies of an authentication share.
final class SigningMethod: Sendable {
    /// What it prints as.
    let name: String
    /// Where its credential stands in a request; nil when only the link knows.
    let place: CredentialPlace?
    /// Where its credentials belong.
    let origins: AllowedOrigins
    /// Whether there is something to reset.
    let isStateful: Bool
    /// Signs, has the request answered, and looks at the answer.
    let link: any LoaderLink

    init(
        _ name: String, place: CredentialPlace?, origins: AllowedOrigins, isStateful: Bool, link: any LoaderLink
    ) {
        self.name = name
        self.place = place
        self.origins = origins
        self.isStateful = isStateful
        self.link = link
    }

    /// Resets this method alone; what is below it is reset by whoever calls.
    func reset() async { await link.reset(next: Nothing()) }

    /// Stands where the rest of the chain would, so that several methods reset it once and not once each.
    private struct Nothing: HTTPLoader {
        func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
            throw HTTPError(.resetInProgress, request: request, mayHaveBeenSent: false)
        }
    }
}

/// Where a credential stands in a request.
enum CredentialPlace: Sendable {
    case header(HTTPHeaders.Name)
    case query(String)

    /// Whether the request brings a credential of its own there.
    func isFilled(in request: HTTPRequest) -> Bool {
        switch self {
        case .header(let name): request.headers.contains(name)
        case .query(let name): request.query.contains(name)
        }
    }

    /// Puts a credential there, in place of any other, so that no text shows it, nor what an answer repeats of it by name.
    func put(_ credential: String, into request: inout HTTPRequest) {
        switch self {
        case .header(let name):
            request.headers.setSecret(credential, for: name)
            if !request.redaction.headers.contains(name) {
                request.redaction = request.redaction.adding(headers: [name])
            }
        case .query(let name):
            request.query.setSecret(credential, for: name)
            if !request.redaction.isSecret(parameter: name) {
                request.redaction = request.redaction.adding(parameters: [name])
            }
        }
    }
}

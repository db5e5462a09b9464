/// Where a credential stands in a request.
enum CredentialPlace: Hashable, Sendable {
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

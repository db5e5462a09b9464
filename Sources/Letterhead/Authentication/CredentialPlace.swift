/// The part of a request that contains a credential.
enum CredentialPlace: Hashable, Sendable {
    case header(HTTPHeaders.Name)
    case query(String)

    /// Whether the request already contains a credential there.
    func isFilled(in request: HTTPRequest) -> Bool {
        switch self {
        case .header(let name): request.headers.contains(name)
        case .query(let name): request.query.contains(name)
        }
    }

    /// Writes a credential into the request, in place of an existing one, and marks it as secret, so that it is
    /// redacted in all descriptions of the request and the response.
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

/// Writes a fixed credential into each request.
struct SignRequest: LoaderLink {
    private let sign: @Sendable (inout HTTPRequest) throws -> Void

    init(_ sign: @escaping @Sendable (inout HTTPRequest) throws -> Void) { self.sign = sign }

    /// Creates the link. If the credential is malformed, each request fails.
    init(_ credential: Result<String, RefusedCredential>, in place: CredentialPlace) {
        sign = { request in place.put(try credential.get(), into: &request) }
    }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        var signed = request
        do { try sign(&signed) } catch { throw HTTPError(signing: error, request: request) }
        return try await next.load(signed)
    }
}

/// The rule that a malformed credential breaks, without the credential.
struct RefusedCredential: Error, CustomStringConvertible {
    let description: String

    init(_ rule: String) { description = rule }
}

extension HTTPError {
    /// Returns the error of a request that could not be signed.
    init(signing error: any Error, request: HTTPRequest) {
        switch error {
        case let error as HTTPError: self = error
        case let error as RefusedCredential:
            self.init(.invalidRequest, request: request, message: error.description)
        case is CancellationError:
            self.init(.cancelled, request: request, underlying: error, mayHaveBeenSent: false)
        default:
            self.init(
                .cannotAuthenticate, request: request, underlying: error, message: Self.summary(of: error),
                mayHaveBeenSent: false)
        }
    }
}

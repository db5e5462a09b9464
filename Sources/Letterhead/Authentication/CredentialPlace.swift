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

/// Puts a credential that is known beforehand into each request.
struct SignRequest: LoaderLink {
    private let sign: @Sendable (inout HTTPRequest) throws -> Void

    init(_ sign: @escaping @Sendable (inout HTTPRequest) throws -> Void) { self.sign = sign }

    /// The same credential in the same place of each request; one that breaks a rule is refused there.
    init(_ credential: Result<String, RefusedCredential>, in place: CredentialPlace) {
        sign = { request in place.put(try credential.get(), into: &request) }
    }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        var signed = request
        do { try sign(&signed) } catch { throw HTTPError(signing: error, request: request) }
        return try await next.load(signed)
    }
}

/// A credential that cannot be sent, and the rule that it breaks, without the credential.
struct RefusedCredential: Error, CustomStringConvertible {
    let description: String

    init(_ rule: String) { description = rule }
}

extension HTTPError {
    /// The error of a request that could not be signed.
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

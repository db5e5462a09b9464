/// For whom a request is: everything in it that tells one user from another, and the origin that it goes to.
///
/// What one request obtains for another, such as a response or a token, is shared only when both identities are equal. Two
/// identities may belong to the same user; one identity never belongs to two.
struct RequestIdentity: Hashable, Sendable {
    private let origin: HTTPOrigin?
    private let userInfo: String?
    private let environment: ServerEnvironment?
    private let headers: [HTTPHeaders.Field]
    private let query: [QueryParameters.Item]
    private let authentication: AuthenticationIdentity?
    private let scopes: Set<String>

    init(_ request: HTTPRequest) {
        origin = request.origin
        userInfo = request.userInfo
        environment = request.serverEnvironment
        headers = request.secretHeaders
        query = request.secretQuery
        authentication = request.authentication?.identity
        scopes = request.requiredScopes
    }
}

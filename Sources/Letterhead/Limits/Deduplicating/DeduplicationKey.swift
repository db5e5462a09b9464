import Foundation

/// The parts of a request that are compared. Hashing uses few of them, because most loads are not shared.
///
/// This type is a class because it is passed often and read rarely.
final class DeduplicationKey: Hashable, Sendable {
    private let request: HTTPRequest
    private let key: String?
    private let headers: HTTPHeaders
    private let body: Data?
    private let authentication: AuthenticationIdentity?
    /// The identity of the request, which a custom key does not contain. It is nil if there is no custom key, because
    /// all parts of the request are compared in that case.
    private let identity: RequestIdentity?

    /// Returns nil if the request cannot share a load: its deduplication is ``Deduplication/never``, its response is
    /// streamed or saved to a file, its body cannot be compared, or it has no custom key and its method is not safe.
    init?(_ request: HTTPRequest, ignoring ignored: Set<HTTPHeaders.Name>) {
        guard request.responseDelivery == .buffered else { return nil }
        switch request.deduplication.kind {
        case .never: return nil
        case .automatic:
            guard request.method.isSafe else { return nil }
            key = nil
        case .key(let own): key = own
        }
        let headers: HTTPHeaders
        // The caller is responsible for what a key covers, but a secret body may contain a password.
        if request.body.isEmpty || key != nil && !request.isSecret {
            (headers, body) = (request.body.isEmpty ? request.framedHeaders() : request.headers, nil)
        } else {
            guard request.body.isReplayable, let data = try? request.body.encode() else { return nil }
            (headers, body) = (request.framedHeaders(), data)
        }
        self.headers =
            ignored.isEmpty
            ? headers : HTTPHeaders(headers.filter { !ignored.contains($0.name) || request.isSecret($0) })
        authentication = request.authentication?.identity
        identity = key == nil ? nil : RequestIdentity(request)
        self.request = request
    }

    func hash(into hasher: inout Hasher) {
        if let key { return hasher.combine(key) }
        hasher.combine(request.host)
        hasher.combine(request.path.string)
        hasher.combine(request.query.count)
    }

    static func == (left: DeduplicationKey, right: DeduplicationKey) -> Bool {
        if left === right { return true }
        guard left.key == right.key, left.identity == right.identity, left.body == right.body,
            left.headers == right.headers, left.hasEqualSigner(right)
        else { return false }
        return left.key != nil || left.hasEqualTarget(right)
    }

    private func hasEqualTarget(_ other: DeduplicationKey) -> Bool {
        let (left, right) = (request, other.request)
        return left.method == right.method && left.path == right.path && left.query == right.query
            && left.scheme == right.scheme && left.host == right.host && left.port == right.port
            && left.userInfo == right.userInfo && left.timeout == right.timeout
            && left.idleTimeout == right.idleTimeout && left.connectTimeout == right.connectTimeout
            && left.responseLimit == right.responseLimit
    }

    /// Requests of different users never share, even if the link is above the authentication.
    private func hasEqualSigner(_ other: DeduplicationKey) -> Bool {
        let (left, right) = (request, other.request)
        return authentication == other.authentication && left.requiredScopes == right.requiredScopes
            && left.client === right.client && left.context.additions.isEmpty && right.context.additions.isEmpty
            && left.serverEnvironment == right.serverEnvironment && left.withheldHeaders == right.withheldHeaders
    }
}

import Foundation

/// By what requests are equal. It hashes little and compares everything, as most loads are alone.
///
/// A class, because it is passed around more than it is looked into.
final class DeduplicationKey: Hashable, Sendable {
    private let request: HTTPRequest
    private let key: String?
    private let headers: HTTPHeaders
    private let body: Data?
    private let signers: [ObjectIdentifier]

    /// nil when the request shares with none: it is not safe, is answered by a stream, or its body cannot be compared.
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
        if request.body.isEmpty || key != nil {
            (headers, body) = (request.headers, nil)
        } else {
            guard request.body.isReplayable, let data = try? request.body.encode() else { return nil }
            (headers, body) = (request.framedHeaders(), data)
        }
        self.headers = ignored.isEmpty ? headers : HTTPHeaders(headers.filter { !ignored.contains($0.name) })
        signers = request.authentication?.methods.map { ObjectIdentifier($0) } ?? []
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
        guard left.key == right.key, left.hasEqualCredentials(right) else { return false }
        return left.key != nil
            || (left.hasEqualTarget(right) && left.headers == right.headers && left.body == right.body)
    }

    private func hasEqualTarget(_ other: DeduplicationKey) -> Bool {
        let (left, right) = (request, other.request)
        return left.method == right.method && left.path == right.path && left.query == right.query
            && left.scheme == right.scheme && left.host == right.host && left.port == right.port
            && left.userInfo == right.userInfo && left.timeout == right.timeout
            && left.idleTimeout == right.idleTimeout
            && left.responseLimit == right.responseLimit
    }

    /// Requests of different users never share; who signs further down is told apart by identity.
    private func hasEqualCredentials(_ other: DeduplicationKey) -> Bool {
        let (left, right) = (request, other.request)
        return signers == other.signers && left.authentication?.description == right.authentication?.description
            && left.serverEnvironment == right.serverEnvironment && left.withheldHeaders == right.withheldHeaders
            && Self.credentialNames.allSatisfy { left.headers.values(for: $0) == right.headers.values(for: $0) }
    }

    private static let credentialNames: [HTTPHeaders.Name] = [.authorization, .cookie, .proxyAuthorization]
}

import Foundation

/// Where credentials may go.
struct AllowedOrigins: Sendable {
    /// What becomes of one request.
    enum Verdict: Equatable {
        case sign
        case leaveUnsigned
        case refuse(String)
    }

    private let listed: Set<HTTPOrigin>?
    private let isMalformed: Bool

    /// - Parameter urls: URLs of the origins; nil for wherever the request was addressed to.
    init(_ urls: [URL]?) {
        let origins = urls.map { $0.map { HTTPOrigin(URLParts($0.absoluteString)) } }
        listed = origins.map { Set($0.compactMap { $0 }) }
        isMalformed = origins?.contains(nil) ?? false
    }

    /// Whether a request is signed: where its credentials belong, and never behind a redirect to another origin.
    ///
    /// - Parameter isOwn: whether the request itself asked for these credentials, rather than its client.
    func verdict(on request: HTTPRequest, isOwn: Bool) -> Verdict {
        if isMalformed { return .refuse("one of the allowed origins has no scheme or no host") }
        guard request.withheldHeaders.isEmpty, let origin = request.origin else { return .leaveUnsigned }
        if let listed { return verdict(at: origin, listed: listed, isOwn: isOwn) }
        guard isOwn || !request.isOutsideEnvironment else { return .leaveUnsigned }
        return Self.isSafe(origin) ? .sign : .refuse(Self.insecure)
    }

    private func verdict(at origin: HTTPOrigin, listed: Set<HTTPOrigin>, isOwn: Bool) -> Verdict {
        if listed.contains(origin) { return .sign }
        if origin.scheme != "https", listed.contains(where: { $0.scheme == "https" && $0.host == origin.host }) {
            return .refuse(Self.insecure)
        }
        return isOwn
            ? .refuse("the credentials belong to other origins; add this one to allowedOrigins") : .leaveUnsigned
    }

    /// Whether secrets may be sent to an origin that is no API: an authorization server's.
    func areSafe(for origin: HTTPOrigin) -> Bool { Self.isSafe(origin) || listed?.contains(origin) == true }

    /// https, or this machine itself, which no network lies before.
    static func isSafe(_ origin: HTTPOrigin) -> Bool {
        if origin.scheme == "https" || origin.host == "localhost" || origin.host == "[::1]" { return true }
        let numbers = origin.host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return numbers.count == 4 && numbers.first == 127 && !numbers.contains(nil)
    }

    private static let insecure =
        "credentials go over https only; to allow plain http, name the origin, with http, in allowedOrigins"
}

import Foundation
import Synchronization

/// Where credentials may go.
struct AllowedOrigins: Hashable, Sendable {
    /// What becomes of one request.
    enum Verdict: Equatable {
        case sign
        case leaveUnsigned
        case refuse(String)
    }

    /// Who chose the credentials for a request.
    enum Chooser: Equatable {
        /// The client, for every request.
        case client
        /// The request, by the name of a method that its client has.
        case name
        /// The request, which brings its own.
        case request

        init(_ own: HTTPAuthentication?) {
            switch own?.choice {
            case nil: self = .client
            case .named: self = .name
            default: self = .request
            }
        }
    }

    private let listed: Set<HTTPOrigin>?
    private let isMalformed: Bool

    /// - Parameter urls: URLs of the origins; nil for the one origin that the credentials belong to.
    init(_ urls: [URL]?) {
        let origins = urls.map { $0.map { HTTPOrigin(URLParts($0.absoluteString)) } }
        listed = origins.map { Set($0.compactMap { $0 }) }
        isMalformed = origins?.contains(nil) ?? false
    }

    /// Whether origins were named. Otherwise the credentials belong to the one origin for which they were obtained.
    var areNamed: Bool { listed != nil }

    /// Whether a request is signed: never after a redirect to another origin, and only where its credentials belong.
    func verdict(on request: HTTPRequest, chosenBy chooser: Chooser) -> Verdict {
        if isMalformed { return .refuse("one of the allowed origins has no scheme or no host") }
        guard request.withheldHeaders.isEmpty, let origin = request.origin else { return .leaveUnsigned }
        if let listed { return verdict(at: origin, listed: listed, chooser) }
        guard chooser == .request || request.homeOrigin?.origin == origin else {
            return Self.elsewhere(chooser, belongingTo: request.homeOrigin?.origin)
        }
        return Self.isSafe(origin) ? .sign : .refuse(Self.insecure)
    }

    /// The verdict on a request to an origin that the credentials do not belong to.
    ///
    /// The client's credentials fill a gap, so a request to another origin goes without them. A request that asks for
    /// credentials is refused.
    ///
    /// - Parameter origin: where they belong; nil when no origin is known.
    static func elsewhere(_ chooser: Chooser, belongingTo origin: HTTPOrigin?) -> Verdict {
        if chooser == .client { return .leaveUnsigned }
        let owner = origin.map { "belong to \($0)" } ?? "belong to no known origin"
        return .refuse("the credentials \(owner); to send them to another origin, add it to allowedOrigins")
    }

    private func verdict(at origin: HTTPOrigin, listed: Set<HTTPOrigin>, _ chooser: Chooser) -> Verdict {
        if listed.contains(origin) { return .sign }
        if origin.scheme != "https", listed.contains(where: { $0.scheme == "https" && $0.host == origin.host }) {
            return .refuse(Self.insecure)
        }
        return chooser == .client
            ? .leaveUnsigned : .refuse("the credentials belong to other origins; add this one to allowedOrigins")
    }

    /// Whether secrets may be sent to an origin that is no API: an authorization server's.
    func areSafe(for origin: HTTPOrigin) -> Bool { Self.isSafe(origin) || listed?.contains(origin) == true }

    /// Whether no network can read what is sent to an origin: https, or this machine itself.
    static func isSafe(_ origin: HTTPOrigin) -> Bool {
        if origin.scheme == "https" || origin.host == "localhost" || origin.host == "[::1]" { return true }
        let numbers = origin.host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return numbers.count == 4 && numbers.first == 127 && !numbers.contains(nil)
    }

    private static let insecure =
        "credentials go over https only; to allow plain http, name the origin, with http, in allowedOrigins"
}

/// The one origin that credentials without `allowedOrigins` belong to: the first that they are used for.
///
/// A class, because concurrent requests must agree on which origin was the first.
final class CredentialHome: Sendable {
    private let origin = Mutex<HTTPOrigin?>(nil)

    /// Claims the credentials for an origin.
    ///
    /// - Returns: the origin that they belong to, which is another one when that came first.
    func claim(_ candidate: HTTPOrigin) -> HTTPOrigin {
        origin.withLock { origin in
            if let origin { return origin }
            origin = candidate
            return candidate
        }
    }

    /// Forgets the origin, once the credentials are forgotten.
    func forget() { origin.withLock { $0 = nil } }
}

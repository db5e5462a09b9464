// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Synchronization

struct AllowedOrigins: Hashable, Sendable {
    enum Verdict: Equatable {
        case sign
        case leaveUnsigned(String)
        case refuse(String)
    }

    enum Chooser: Equatable {
        case client
        /// The request chooses a method by its name in the composite of the client.
        case name
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

    /// Creates the origins that may receive credentials.
    ///
    /// - Parameter urls: URLs of the origins. Nil if the credentials belong to a single origin that isn't known yet.
    init(_ urls: [URL]?) {
        let origins = urls.map { $0.map { HTTPOrigin(URLParts($0.absoluteString)) } }
        listed = origins.map { Set($0.compactMap { $0 }) }
        isMalformed = origins?.contains(nil) ?? false
    }

    /// Whether origins were named. Otherwise, the credentials belong to a single origin.
    var areNamed: Bool { listed != nil }

    /// Decides whether a request is signed. It is signed only for the origins that the credentials belong to, and never
    /// after a redirect to a different origin.
    func verdict(on request: HTTPRequest, chosenBy chooser: Chooser) -> Verdict {
        if isMalformed { return .refuse("a URL in allowedOrigins has no scheme or no host (write it as https://host)") }
        guard let origin = request.origin else { return .leaveUnsigned("the request has no origin") }
        guard request.removedHeaders.isEmpty else {
            return .leaveUnsigned("the credentials were removed, because a redirect led to a different origin")
        }
        if let listed { return verdict(at: origin, listed: listed, chooser) }
        guard chooser == .request || request.homeOrigin == origin else {
            return Self.elsewhere(chooser, belongingTo: request.homeOrigin)
        }
        return origin.isSecure || origin == request.openOrigin ? .sign : .refuse(Self.insecure)
    }

    /// The credentials of a client are optional, so a request to a different origin is sent without them. A request
    /// that chooses credentials itself is refused.
    static func elsewhere(_ chooser: Chooser, belongingTo origin: HTTPOrigin?) -> Verdict {
        let rule = rule(ofCredentialsFor: origin)
        return chooser == .client ? .leaveUnsigned(rule) : .refuse(rule)
    }

    static func rule(ofCredentialsFor origin: HTTPOrigin?) -> String {
        let owner = origin?.description ?? "an unknown origin"
        return "the credentials belong to \(owner) (to send them with this request, add its origin to allowedOrigins)"
    }

    private func verdict(at origin: HTTPOrigin, listed: Set<HTTPOrigin>, _ chooser: Chooser) -> Verdict {
        if listed.contains(origin) { return .sign }
        if origin.scheme != "https", listed.contains(where: { $0.scheme == "https" && $0.host == origin.host }) {
            return .refuse(Self.insecure)
        }
        let rule = "allowedOrigins does not contain the request's origin (add it to send the credentials there)"
        return chooser == .client ? .leaveUnsigned(rule) : .refuse(rule)
    }

    private static let insecure =
        "credentials are sent over https only (to allow http, set allowsCredentialsOverHTTP of the environment, or add "
        + "the request's origin with http to allowedOrigins)"
}

/// The single origin of credentials without `allowedOrigins`: the first one that they are used for. Concurrent requests
/// must agree on it. It also identifies the credentials of a custom method until a reset.
final class CredentialHome: Sendable {
    private struct State {
        var origin: HTTPOrigin?
        var identity: String?
    }

    private let state = Mutex(State())

    /// Identifies the credentials. The text is unique in all processes.
    var identity: String {
        state.withLock { state in
            let identity = state.identity ?? RandomBytes.base64URL(RandomBytes.system(15))
            state.identity = identity
            return identity
        }
    }

    /// Returns the origin that the credentials belong to: the candidate, or an origin that was claimed before.
    func claim(_ candidate: HTTPOrigin) -> HTTPOrigin {
        state.withLock { state in
            let origin = state.origin ?? candidate
            state.origin = origin
            return origin
        }
    }

    /// Returns the origin that ``claim(_:)`` would return, without claiming it.
    func owner(for candidate: HTTPOrigin) -> HTTPOrigin { state.withLock { $0.origin ?? candidate } }

    /// Removes the origin and the identity. The credentials must have been removed before.
    func forget() { state.withLock { $0 = State() } }
}

extension HTTPRequest {
    /// Returns the request without the client credentials. If the response is a 401, its error contains the reason.
    func unsigned(because reason: String) -> HTTPRequest {
        record(.credentialsWithheld) { event in
            event[.origin] = origin?.description
            event[.reason] = reason
        }
        return changed(self) { $0.unsignedReason = reason }
    }
}

// SPDX-License-Identifier: MIT
import Synchronization

/// Signs requests with an authentication. A client contains this link, so use it only in a chain of your own.
///
/// ```swift
/// let chain = FollowRedirects() --> ApplyEnvironment(local) --> Authenticate(oauth) --> HTTPClient.defaultTransport
/// ```
///
/// A request that sets its own authentication is signed with that one instead.
///
/// Put the link below ``FollowRedirects`` and ``ApplyEnvironment``, so that it checks the origin of each hop. If its
/// authentication has no `allowedOrigins`, it requires an ``ApplyEnvironment`` above, and signs no requests without it.
/// A reset removes the stored credentials of all methods, including methods from requests that are still referenced.
public struct Authenticate: LoaderLink {
    private let authentication: HTTPAuthentication
    private let seen = SeenMethods()
    /// The origins that this link binds the client methods to. Only methods with fixed credentials use them.
    private let homes: [ObjectIdentifier: CredentialHome]

    /// Creates a link. The authentication signs requests that don't set their own. Default:
    /// ``HTTPAuthentication/anonymous``.
    public init(_ authentication: HTTPAuthentication = .anonymous) {
        self.authentication = authentication
        homes = Dictionary(authentication.methods.map { (ObjectIdentifier($0), CredentialHome()) }) { first, _ in first
        }
    }

    /// Signs a request, and passes it on.
    ///
    /// - Throws: before anything is sent, ``HTTPError/Code/cannotAuthenticate`` if credentials are missing or must not
    ///   be sent to the origin, and ``HTTPError/Code/invalidRequest`` if they are malformed.
    @inline(__always)
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let own = request.authentication
        var request = request
        // It may come from an attempt that was not signed.
        if request.unsignedReason != nil { request.unsignedReason = nil }
        guard let method = try (own ?? authentication).method(for: request, in: authentication) else {
            return try await next.load(try Self.withoutCredentials(request))
        }
        if own == nil, method.place?.isFilled(in: request) == true { return try await next.load(request) }
        switch verdict(of: method, on: request, chosenBy: AllowedOrigins.Chooser(own), home: { $0.claim($1) }) {
        case .leaveUnsigned(let reason) where request.authenticationRequirement != .required,
            .refuse(let reason) where request.authenticationRequirement == .optional:
            return try await next.load(request.unsigned(because: reason))
        case .leaveUnsigned(let rule), .refuse(let rule):
            throw HTTPError(signing: HTTPAuthentication.Failure(.originNotAllowed, rule), request: request)
        case .sign:
            if case .none = method.memory { request.loadValues[option: SignedForOne.self] = true }
            if own != nil {
                if method.isStateful { seen.insert(method) }
                request.loadValues[option: SignedByItself.self] = true
            }
            guard request.authenticationRequirement == .optional else {
                return try await Self.load(request, signedBy: method, next: next)
            }
            do throws(HTTPError) {
                return try await Self.load(request, signedBy: method, next: next)
            } catch {
                let isSendable = !error.mayHaveBeenSent || request.body.isEmpty || request.body.isReplayable
                guard error.code == .cannotAuthenticate, isSendable else { throw error }
                return try await next.load(request.unsigned(because: error.message))
            }
        }
    }

    /// Signs the request again if its signature can be used only once and was sent already. It does so at most five
    /// times, as often as libcurl replaces connections that have ended.
    @inline(__always)
    private static func load(
        _ request: HTTPRequest, signedBy method: SigningMethod, next: any HTTPLoader
    ) async throws(HTTPError) -> HTTPResponse {
        var repetitions = 0
        while true {
            do throws(HTTPError) {
                return try await send(request, signedBy: method, next: next)
            } catch {
                // If there are several signatures, the first one comes from a link above.
                guard error.code == .signatureSpent, !request.isSignedOnce else {
                    throw repetitions == 0 ? error : error.with(mayHaveBeenSent: true)
                }
                let isRepeatable = request.isIdempotent || !error.mayHaveBeenSent
                guard repetitions < 5, isRepeatable, request.body.isEmpty || request.body.isReplayable else {
                    throw HTTPError(
                        .connectionLost, request: error.request, message: error.message, mayHaveBeenSent: true)
                }
                repetitions += 1
            }
        }
    }

    @inline(__always)
    private static func send(
        _ request: HTTPRequest, signedBy method: SigningMethod, next: any HTTPLoader
    ) async throws(HTTPError) -> HTTPResponse {
        guard case .unknown(let home) = method.memory else { return try await method.link.load(request, next: next) }
        let marked = MarkSigned(unsigned: request, identity: home.identity, next: next)
        return try await method.link.load(request, next: marked)
    }

    /// Returns a request that is sent without credentials. Throws if the request requires credentials.
    private static func withoutCredentials(_ request: HTTPRequest) throws(HTTPError) -> HTTPRequest {
        guard request.authenticationRequirement == .required, !request.headers.contains(.authorization) else {
            return request
        }
        let rule = "the request requires credentials, and neither it nor its client has any"
        throw HTTPError(signing: HTTPAuthentication.Failure(.noCredentials, rule), request: request)
    }

    /// Removes the stored credentials of each method once, and resets the links below.
    public func reset(next: any HTTPLoader) async {
        let methods = Set(authentication.methods + seen.all)
        async let below: Void = next.reset()
        await withTaskGroup(of: Void.self) { group in
            for method in methods { group.addTask { await method.reset() } }
        }
        await below
    }

    /// Describes how the request would be signed, without signing it or binding a credential to its origin.
    func explanation(of request: HTTPRequest) -> String {
        let own = request.authentication
        let method: SigningMethod?
        do { method = try (own ?? authentication).method(for: request, in: authentication) } catch {
            return "refused: \(error.message)"
        }
        guard let method else {
            return (try? Self.withoutCredentials(request)) == nil
                ? "none, and the request fails, because it requires credentials" : "none"
        }
        if own == nil, method.place?.isFilled(in: request) == true {
            return "none, because the request already contains a credential"
        }
        switch verdict(of: method, on: request, chosenBy: AllowedOrigins.Chooser(own), home: { $0.owner(for: $1) }) {
        case .sign: return method.name
        case .leaveUnsigned(let reason) where request.authenticationRequirement != .required,
            .refuse(let reason) where request.authenticationRequirement == .optional:
            return "\(method.name), not sent: \(reason)"
        case .leaveUnsigned(let rule), .refuse(let rule): return "\(method.name), refused: \(rule)"
        }
    }

    func places(for request: HTTPRequest) -> [CredentialPlace] {
        ((request.authentication?.methods ?? []) + authentication.methods).compactMap(\.place)
    }

    /// Decides whether a method signs a request.
    ///
    /// - Parameter owner: returns the owner of credentials that are used for an origin.
    @inline(__always)
    private func verdict(
        of method: SigningMethod, on request: HTTPRequest, chosenBy chooser: AllowedOrigins.Chooser,
        home owner: (CredentialHome, HTTPOrigin) -> HTTPOrigin
    ) -> AllowedOrigins.Verdict {
        let verdict = method.origins.verdict(on: request, chosenBy: chooser)
        guard verdict == .sign, !method.origins.areNamed, let origin = request.origin else { return verdict }
        let home: CredentialHome? =
            switch method.memory {
            case .given, .none: chooser == .request ? nil : homes[ObjectIdentifier(method)]
            case .bound: nil
            case .unknown(let home): home
            }
        guard let owner = home.map({ owner($0, origin) }), owner != origin else { return .sign }
        return AllowedOrigins.elsewhere(chooser, belongingTo: owner)
    }
}

/// Whether a closure has returned the credential for this request. The credential may belong to a different user than
/// the credential of an equal request.
enum SignedForOne: HTTPRequestOption { static let defaultOptionValue = false }

/// Whether a link above has signed the request with its own authentication.
enum SignedByItself: HTTPRequestOption { static let defaultOptionValue = false }

/// The methods that requests have set, referenced weakly. Copies of the link share one list.
private final class SeenMethods: Sendable {
    private struct Weak: Sendable {
        weak var method: SigningMethod?
    }

    private let list = Mutex<[Weak]>([])

    func insert(_ method: SigningMethod) {
        list.withLock { list in
            guard !list.contains(where: { $0.method === method }) else { return }
            list.removeAll { $0.method == nil }
            list.append(Weak(method: method))
        }
    }

    var all: [SigningMethod] { list.withLock { $0.compactMap(\.method) } }
}

/// Signs requests with a link. All copies of an authentication share the stored credentials, and a reset must remove
/// them.
final class SigningMethod: Hashable, Sendable {
    /// What a method keeps between requests, and who binds it to an origin.
    enum Memory {
        /// A fixed credential. Each client binds it separately.
        case given(GivenCredential)
        /// Nothing. Each client binds the method separately.
        case none
        /// A credential that the link obtains, stores and binds itself.
        case bound
        /// Unknown state of a custom link. All of it belongs to the first origin.
        case unknown(CredentialHome)
    }

    let name: String
    /// The part of the request that contains the credential. Nil if only the link knows it.
    let place: CredentialPlace?
    let origins: AllowedOrigins
    let memory: Memory
    let link: any LoaderLink

    init(_ name: String, place: CredentialPlace?, origins: AllowedOrigins, memory: Memory, link: any LoaderLink) {
        (self.name, self.place, self.origins, self.memory, self.link) = (name, place, origins, memory, link)
    }

    var isStateful: Bool {
        switch memory {
        case .given, .none: false
        case .bound, .unknown: true
        }
    }

    static func == (left: SigningMethod, right: SigningMethod) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// Resets only this method. The caller resets the links below.
    func reset() async {
        await link.reset(next: ResetEnd())
        if case .unknown(let home) = memory { home.forget() }
    }
}

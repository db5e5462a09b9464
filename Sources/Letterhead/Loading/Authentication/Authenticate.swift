import Synchronization

/// Signs each request as it says itself, or else as its client says.
///
/// ```swift
/// let chain = FollowRedirects() --> ApplyEnvironment(local) --> Authenticate(oauth) --> HTTPClient.defaultTransport
/// ```
///
/// Put it behind redirects and the environment, so that each hop is judged by its own origin. A client's credentials fill
/// a gap only: a request that brings its own goes out with it. A reset forgets what the methods remember, of those that
/// came with requests too as long as somebody keeps them.
public struct Authenticate: LoaderLink {
    private let authentication: HTTPAuthentication
    private let seen = SeenMethods()

    /// Makes the link.
    ///
    /// - Parameter authentication: signs requests that say nothing themselves. Default: nobody.
    public init(_ authentication: HTTPAuthentication = .anonymous) { self.authentication = authentication }

    /// Signs the request, where its credentials may go, and has it answered.
    ///
    /// - Throws: ``HTTPError/Code/cannotAuthenticate``, before anything is sent, when there are no credentials or they must
    ///   not go there; ``HTTPError/Code/invalidRequest`` for credentials that cannot be sent.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let own = request.authentication
        guard let method = try (own ?? authentication).method(for: request, in: authentication) else {
            return try await next.load(request)
        }
        if own == nil, method.place?.isFilled(in: request) == true { return try await next.load(request) }
        switch method.origins.verdict(on: request, isOwn: own != nil) {
        case .leaveUnsigned: return try await next.load(request)
        case .refuse(let rule):
            throw HTTPError(signing: HTTPAuthentication.Failure(.originNotAllowed, rule), request: request)
        case .sign:
            if own != nil, method.isStateful { seen.insert(method) }
            return try await method.link.load(request, next: next)
        }
    }

    /// Forgets the credentials of every method, once, and resets what is below.
    public func reset(next: any HTTPLoader) async {
        let methods = authentication.methods + seen.all
        async let below: Void = next.reset()
        await withTaskGroup(of: Void.self) { group in
            for method in methods { group.addTask { await method.reset() } }
        }
        await below
    }
}

/// The methods that came with requests, for as long as someone else keeps them.
///
/// A class, because copies of the link must see one list.
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

extension RequestTemplate {
    /// Says how redirects are followed, in place of the client's policy.
    public func redirects(_ policy: RedirectPolicy) -> WithOptions<Self> {
        option(RedirectPolicyOption.self, policy)
    }
}

/// How the redirects of one request are followed.
enum RedirectPolicyOption: HTTPRequestOption {
    /// As the link says.
    static let defaultOptionValue: RedirectPolicy? = nil
}

extension HTTPRequest {
    /// How redirects are followed. Default: nil, as ``FollowRedirects`` says.
    ///
    /// It replaces the link's policy, but the headers that the link withholds from other origins stay withheld.
    public var redirectPolicy: RedirectPolicy? {
        get { self[option: RedirectPolicyOption.self] }
        set { self[option: RedirectPolicyOption.self] = newValue }
    }
}

/// Which redirects are followed, and with what.
///
/// ```swift
/// .safely
/// .sameOrigin.limit(3)
/// .safely.withholding(["X-Tenant-Key"])
/// .custom { proposal, response in proposal.host == "cdn.example.com" ? proposal : nil }
/// ```
public struct RedirectPolicy: Sendable {
    /// Chooses what is sent next: the proposal, changed or not, or nil to have the 3xx as the result.
    ///
    /// The proposal is what ``safely`` would send, from https to http too. What the closure throws fails the load.
    public typealias Choice = @Sendable (_ proposal: HTTPRequest, _ response: HTTPResponse) async throws -> HTTPRequest?

    enum Rule: Sendable {
        case safely, sameOrigin, never, keepingOriginal
        case custom(Choice)
    }

    let rule: Rule
    /// How many redirects of one load are followed; one more is `.tooManyRedirects`. Default: 20.
    public private(set) var limit = 20
    /// Whether a redirect may lead from https to http. Default: false.
    public private(set) var allowsDowngrade = false
    /// The headers that go to no other origin, beside ``standardWithheldHeaders`` and the request's secret ones.
    public private(set) var withheldHeaders: Set<HTTPHeaders.Name> = []

    init(rule: Rule) { self.rule = rule }

    /// Follows as RFC 9110, 15.4 and the Fetch standard do: 301 and 302 turn POST into GET, 303 turns everything but HEAD
    /// into GET, 307 and 308 keep method and body. Never from https to http.
    public static let safely = RedirectPolicy(rule: .safely)

    /// As ``safely``, as long as scheme, host and port stay.
    public static let sameOrigin = RedirectPolicy(rule: .sameOrigin)

    /// Follows none: the 3xx is the result.
    public static let never = RedirectPolicy(rule: .never)

    /// As ``safely``, but method, body and the headers of the body stay whatever the status.
    public static let keepingOriginal = RedirectPolicy(rule: .keepingOriginal)

    /// Asks at each redirect that leads to an http or https URL.
    ///
    /// A choice that leads to another origin than the proposal loses its credentials, too. One without a host, or with
    /// another identity, is `.invalidRequest`.
    public static func custom(_ choice: @escaping Choice) -> RedirectPolicy { RedirectPolicy(rule: .custom(choice)) }

    /// The same with another limit; 0 follows none and is `.tooManyRedirects`, a negative one is `.invalidRequest`.
    public func limit(_ limit: Int) -> RedirectPolicy {
        var policy = self
        policy.limit = limit
        return policy
    }

    /// The same with redirects from https to http.
    public func allowingDowngrade() -> RedirectPolicy {
        var policy = self
        policy.allowsDowngrade = true
        return policy
    }

    /// The same with more headers that go to no other origin.
    public func withholding(_ names: Set<HTTPHeaders.Name>) -> RedirectPolicy {
        var policy = self
        policy.withheldHeaders.formUnion(names)
        return policy
    }

    /// The headers that never go to another origin: credentials, and the host.
    public static let standardWithheldHeaders: Set<HTTPHeaders.Name> = [
        .authorization, .proxyAuthorization, .cookie, "Cookie2", .wwwAuthenticate, .proxyAuthenticate, "Host",
    ]
}

extension HTTPRequestOptions {
    /// See ``HTTPRequest/redirectPolicy``.
    public var redirectPolicy: RedirectPolicy? {
        get { self[RedirectPolicyOption.self] }
        set { self[RedirectPolicyOption.self] = newValue }
    }
}

extension WithOptions {
    /// See ``RequestTemplate/redirects(_:)``.
    public func redirects(_ policy: RedirectPolicy) -> Self {
        option(RedirectPolicyOption.self, policy)
    }
}

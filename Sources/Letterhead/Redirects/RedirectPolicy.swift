extension RequestTemplate {
    /// Sets the redirect policy, in place of the client's.
    public func redirects(_ policy: RedirectPolicy) -> Modified<Self> {
        settings { $0.redirectPolicy = policy }
    }
}

enum RedirectPolicyOption: HTTPRequestOption {
    static let defaultOptionValue: RedirectPolicy? = nil
}

extension RequestSettings {
    /// The redirect policy of the request. Default: nil (the policy of ``FollowRedirects``).
    ///
    /// It replaces the policy of the link. However, headers that the policy of the link withholds from other origins
    /// are still withheld.
    public var redirectPolicy: RedirectPolicy? {
        get { self[option: RedirectPolicyOption.self] }
        set { self[option: RedirectPolicyOption.self] = newValue }
    }
}

/// A policy that determines which redirects are followed, and with which requests.
///
/// ```swift
/// .safely
/// .sameOrigin.limit(3)
/// .safely.withholding(["X-Tenant-Key"])
/// .custom { proposal, response in proposal.host == "cdn.example.com" ? proposal : nil }
/// ```
public struct RedirectPolicy: Sendable {
    /// Returns the request to send next, which is the proposal with or without changes. If the result is nil, the
    /// redirect is not followed and the 3xx response is returned.
    ///
    /// The proposal is the request that ``safely`` would send, even if it leads from https to http. If the closure
    /// throws, the request fails.
    public typealias Choice = @Sendable (_ proposal: HTTPRequest, _ response: HTTPResponse) async throws -> HTTPRequest?

    enum Rule: Sendable {
        case safely, sameOrigin, never, keepingOriginal
        case custom(Choice)
    }

    let rule: Rule
    /// The maximum number of redirects in a load. If there are more, the request fails with `.tooManyRedirects`.
    /// Default: 20.
    public private(set) var limit = 20
    /// Whether a redirect may lead from https to http. Default: false.
    public private(set) var allowsDowngrade = false
    /// The headers that are not sent to other origins, in addition to ``standardWithheldHeaders`` and the secret
    /// headers of the request.
    public private(set) var withheldHeaders: Set<HTTPHeaders.Name> = []

    init(rule: Rule) { self.rule = rule }

    /// Follows redirects as specified by RFC 9110, 15.4 and the Fetch standard: 301 and 302 change POST to GET, 303
    /// changes all methods but HEAD to GET, and 307 and 308 keep the method and the body. Redirects from https to http
    /// are not followed.
    public static let safely = RedirectPolicy(rule: .safely)

    /// Follows redirects like ``safely``, but only if the scheme, the host and the port do not change.
    public static let sameOrigin = RedirectPolicy(rule: .sameOrigin)

    /// Follows no redirects: the 3xx response is returned.
    public static let never = RedirectPolicy(rule: .never)

    /// Follows redirects like ``safely``, but keeps the method, the body and the headers of the body for every status.
    public static let keepingOriginal = RedirectPolicy(rule: .keepingOriginal)

    /// Calls a closure for each redirect that leads to an http or https URL.
    ///
    /// If the origin of the returned request differs from that of the proposal, its credentials are removed as for any
    /// redirect to another origin. If the returned request has no host, the error is `.invalidRequest`.
    public static func custom(_ choice: @escaping Choice) -> RedirectPolicy { RedirectPolicy(rule: .custom(choice)) }

    /// Returns the policy with another limit. With a limit of 0, the first redirect fails with `.tooManyRedirects`.
    /// With a negative limit, it fails with `.invalidRequest`.
    public func limit(_ limit: Int) -> RedirectPolicy {
        var policy = self
        policy.limit = limit
        return policy
    }

    /// Returns a policy that also follows redirects from https to http.
    public func allowingDowngrade() -> RedirectPolicy {
        var policy = self
        policy.allowsDowngrade = true
        return policy
    }

    /// Returns the policy with additional headers that are not sent to other origins.
    public func withholding(_ names: Set<HTTPHeaders.Name>) -> RedirectPolicy {
        var policy = self
        policy.withheldHeaders.formUnion(names)
        return policy
    }

    /// The headers that are never sent to another origin: those with credentials, and `Host`.
    public static let standardWithheldHeaders: Set<HTTPHeaders.Name> = [
        .authorization, .proxyAuthorization, .cookie, "Cookie2", .wwwAuthenticate, .proxyAuthenticate, "Host",
    ]
}

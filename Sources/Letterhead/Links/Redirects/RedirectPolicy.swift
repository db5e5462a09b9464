// SPDX-License-Identifier: MIT
public import LetterheadFoundation

extension RequestConfigurable {
    /// Sets ``RequestSettings/redirectPolicy``, for example `.redirects(.never)`.
    public func redirects(_ policy: RedirectPolicy) -> Configured {
        configured { $0.redirectPolicy = policy }
    }
}

enum RedirectPolicyOption: HTTPRequestOption {
    static let defaultOptionValue: RedirectPolicy? = nil
}

extension RequestSettings {
    /// The policy for this request, instead of the policy of ``FollowRedirects``. Default: nil (the policy of the
    /// link).
    ///
    /// Headers that the policy of the link withholds from other origins are still withheld.
    public var redirectPolicy: RedirectPolicy? {
        get { self[option: RedirectPolicyOption.self] }
        set { self[option: RedirectPolicyOption.self] = newValue }
    }
}

/// Chooses which redirects to follow, and what the redirected requests contain.
///
/// ```swift
/// .sameOrigin.limit(3)
/// .safely.removing(["X-Tenant-Key"])
/// .custom { proposal, response in proposal.host == "cdn.example.com" ? proposal : nil }
/// ```
///
/// Set it for a request with ``RequestConfigurable/redirects(_:)``, or pass it to ``FollowRedirects`` in a chain of
/// your own. Default: ``safely``.
public struct RedirectPolicy: Sendable {
    /// Decides about one redirect. The proposal is the request that ``safely`` would send, even from https to http.
    ///
    /// Return the request to send next: the proposal, with or without changes. If you return nil, the caller receives
    /// the 3xx response. If you throw an error, the request fails with it.
    public typealias Choice = @Sendable (_ proposal: HTTPRequest, _ response: HTTPResponse) async throws -> HTTPRequest?

    enum Rule: Sendable {
        case safely, sameOrigin, never, keepingOriginal
        case custom(Choice)
    }

    let rule: Rule
    /// The maximum number of redirects in one load. With more, the request fails with `.tooManyRedirects`. Default: 20.
    public private(set) var limit = 20
    /// Whether a redirect may lead from https to http. Default: false.
    public private(set) var allowsDowngrade = false
    /// The headers that other origins don't receive, in addition to ``standardWithheldHeaders`` and to secret headers.
    public private(set) var removedHeaders: Set<HTTPHeaders.Name> = []

    init(rule: Rule) { self.rule = rule }

    /// Follows redirects as RFC 9110, 15.4 and the Fetch standard describe, except from https to http.
    ///
    /// - 301 and 302 change POST to GET.
    /// - 303 changes all methods but HEAD to GET.
    /// - 307 and 308 keep the method and the body.
    public static let safely = RedirectPolicy(rule: .safely)

    /// Follows redirects like ``safely``, but only if the scheme, the host and the port do not change.
    public static let sameOrigin = RedirectPolicy(rule: .sameOrigin)

    /// Follows no redirects: the 3xx response is returned.
    public static let never = RedirectPolicy(rule: .never)

    /// Follows redirects like ``safely``, but keeps the method, the body and its headers for every status.
    public static let keepingOriginal = RedirectPolicy(rule: .keepingOriginal)

    /// Calls a closure for each redirect that leads to an http or https URL.
    ///
    /// If the returned request has a different origin than the proposal, its credentials are removed as for any
    /// redirect to a different origin. If it has no host, the load fails with `.invalidRequest`.
    public static func custom(_ choice: @escaping Choice) -> RedirectPolicy { RedirectPolicy(rule: .custom(choice)) }

    /// Sets the maximum number of redirects. With 0, the first redirect fails with `.tooManyRedirects`. With a negative
    /// limit, it fails with `.invalidRequest`.
    public func limit(_ limit: Int) -> RedirectPolicy { changed(self) { $0.limit = limit } }

    /// Also follows redirects from https to http, which are otherwise refused. The http origin receives no credentials.
    public func allowingDowngrade() -> RedirectPolicy { changed(self) { $0.allowsDowngrade = true } }

    /// Adds headers to remove when a redirect leads to a different origin, such as one with the key of a tenant.
    public func removing(_ names: Set<HTTPHeaders.Name>) -> RedirectPolicy {
        changed(self) { $0.removedHeaders.formUnion(names) }
    }

    /// The headers that are removed whenever a redirect leads to a different origin: those with credentials, and
    /// `Host`.
    public static let standardWithheldHeaders: Set<HTTPHeaders.Name> = [
        .authorization, .proxyAuthorization, .cookie, "Cookie2", .wwwAuthenticate, .proxyAuthenticate, "Host",
    ]
}

enum RedirectRules {
    /// Whether a status is a redirect to follow. 300, 304, 305 and 306 are not (RFC 9110, 15.4).
    static func isRedirect(_ status: HTTPStatus) -> Bool {
        switch status.code {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    static func proposal(
        for request: HTTPRequest, response: HTTPResponse, policy: RedirectPolicy
    ) throws(RedirectPolicy.Redirect.Refusal) -> HTTPRequest {
        if case .never = policy.rule { throw .policy }
        guard let url = response.location else { throw .location }
        var hop = request
        // The load values come first, because the move adds the secrets of the path to them.
        hop.loadValues.replace(with: response.request.loadValues)
        hop.method = response.request.method
        if case .keepingOriginal = policy.rule {} else { changeMethod(of: &hop, status: response.status) }
        hop = try hop.moved(to: url, namedBy: response.request, policy)
        guard hop.body.isEmpty || hop.body.isReplayable else { throw .oneTimeBody }
        return hop
    }

    /// Whether a hop leaves the origin of the request, or the origin that responded: a loader below may have followed a
    /// redirect to a different server itself. Nil if neither is known.
    static func leaves(_ hop: HTTPRequest, _ request: HTTPRequest, _ answered: HTTPRequest?) -> Bool? {
        let (own, theirs, origin) = (request.withEnvironment.origin, answered?.origin, hop.origin)
        guard own != nil || theirs != nil else { return nil }
        return own != nil && own != origin || theirs != nil && theirs != origin
    }

    /// Marks a request as redirected, and permanently removes what a different origin must not receive.
    ///
    /// - Parameter leaves: what ``leaves(_:_:_:)`` has returned for the request.
    static func withhold(
        from hop: inout HTTPRequest, of request: HTTPRequest, leaves: Bool?, policy: RedirectPolicy
    ) {
        var names = hop.removedHeaders
        if leaves != false {
            names.formUnion(RedirectPolicy.standardWithheldHeaders)
            names.formUnion(policy.removedHeaders)
            names.formUnion(hop.redaction.headers)
            names.formUnion(hop.secretHeaders.map(\.name))
            names.formUnion(hop.headers.filter { $0.origin != nil && $0.origin != hop.origin }.map(\.name))
            hop.headers = HTTPHeaders(hop.headers.filter { !names.contains($0.name) })
        }
        // If the origin isn't known yet, the links that know it keep the environment headers and the client credentials
        // from other origins. Nothing else does so for credentials that the request sets itself.
        hop.removedHeaders = leaves == nil && request.authentication == nil ? hop.removedHeaders : names
    }

    /// Applies RFC 9110, 15.4.2 to 15.4.4, as clarified by the Fetch standard, 4.4.
    private static func changeMethod(of hop: inout HTTPRequest, status: HTTPStatus) {
        switch status.code {
        case 301, 302: guard hop.method == .post else { return }
        case 303: guard hop.method != .get, hop.method != .head else { return }
        default: return
        }
        hop.method = .get
        hop.body = EmptyBody()
        hop.headers = HTTPHeaders(
            hop.headers.filter { field in
                !ASCII.lowercased(field.name.rawValue).begins(with: "content-")
                    && field.name != .transferEncoding && field.name != .trailer && field.name != .expect
            })
    }

    fileprivate static func allowsDowngrade(_ policy: RedirectPolicy) -> Bool {
        if case .custom = policy.rule { true } else { policy.allowsDowngrade }
    }
}

extension HTTPRequest {
    /// Returns this request for a URL that a server has named, such as the `Location` of a new resource. Use it in a
    /// link that sends a request to such a URL.
    ///
    /// ```swift
    /// let created = try await next.load(request)
    /// guard let url = created.location else { return created }
    /// let moved: HTTPRequest
    /// do { moved = try request.moved(to: url, namedBy: created.request) } catch {
    ///     throw HTTPError(.invalidResponse, request: request, response: created, message: error.description)
    /// }
    /// return try await next.load(moved)
    /// ```
    ///
    /// The request keeps its method, headers, body and options. If the scheme, the host or the port changes, the same
    /// rules apply as in ``FollowRedirects`` for a redirect: the new origin receives neither credentials nor secret
    /// headers, and nothing of the environment. The returned request doesn't contain them, and ``removedHeaders``
    /// prevents the links below from adding them.
    ///
    /// If a closure provides the environment and no sender is named, the origins can't be compared. The request then
    /// loses only the secrets that it sets itself.
    ///
    /// - Parameters:
    ///   - url: an absolute URL. A username and password in it are never used.
    ///   - sender: the request that received the URL, as it was sent. Its origin counts as the origin of this request.
    ///     Default: nil.
    /// - Throws: `.otherOrigin` if the URL has a different origin, and either the ``RequestSettings/redirectPolicy`` is
    ///   `.never`, `.sameOrigin` or `.custom`, or the body is secret. `.downgrade`, `.scheme` and `.location` as for a
    ///   redirect.
    public func moved(
        to url: URL, namedBy sender: HTTPRequest? = nil
    ) throws(RedirectPolicy.Redirect.Refusal) -> HTTPRequest {
        let policy = redirectPolicy ?? .safely
        // A closure decides about redirects only, because it receives their response.
        if case .custom = policy.rule {
            return try moved(to: url, namedBy: sender, .sameOrigin.removing(policy.removedHeaders))
        }
        return try moved(to: url, namedBy: sender, policy)
    }

    fileprivate func moved(
        to url: URL, namedBy sender: HTTPRequest?, _ policy: RedirectPolicy
    ) throws(RedirectPolicy.Redirect.Refusal) -> HTTPRequest {
        let target = HTTPRequest(url: url)
        var moved = self
        (moved.scheme, moved.host, moved.port) = (ASCII.lowercased(target.scheme), target.host, target.port)
        (moved.userInfo, moved.path, moved.query, moved.fragment) = (nil, target.path, target.query, target.fragment)
        // The required origin applies only to the first request. The redirect policy checks the next ones.
        moved.options.remove(RequiredOriginOption.self)
        guard target.hasScheme, ["http", "https"].contains(moved.scheme) else { throw .scheme }
        guard (try? moved.validate()) != nil else { throw .location }
        let leaves = RedirectRules.leaves(moved, self, sender)
        let isElsewhere = leaves == true
        switch policy.rule {
        case .never where isElsewhere, .sameOrigin where isElsewhere: throw .otherOrigin
        default: break
        }
        if !RedirectRules.allowsDowngrade(policy), moved.scheme != "https",
            (sender?.origin ?? withEnvironment.origin)?.scheme == "https"
        {
            throw .downgrade
        }
        // A secret body, such as that of a login, is intended only for its original origin.
        if isSecret, !body.isEmpty, isElsewhere { throw .otherOrigin }
        RedirectRules.withhold(from: &moved, of: self, leaves: leaves, policy: policy)
        return moved
    }
}

extension RedirectPolicy {
    /// A redirect that was followed: the request, the head of its response, and the next request.
    public struct Redirect: Sendable, CustomStringConvertible {
        /// The request that received the redirect, as it was sent.
        public let request: HTTPRequest
        /// The status of the redirect, such as 302.
        public let status: HTTPStatus
        /// The headers of the redirect, including `Location`.
        public let headers: HTTPHeaders
        /// The request that the redirect led to, before the links below ``FollowRedirects`` changed it.
        public let target: HTTPRequest

        /// Creates a redirect for tests.
        public init(request: HTTPRequest, status: HTTPStatus, headers: HTTPHeaders = [:], target: HTTPRequest) {
            (self.request, self.status, self.headers, self.target) = (request, status, headers, target)
        }

        init(response: HTTPResponse, target: HTTPRequest) {
            request = response.request
            status = response.status
            headers = response.headers
            self.target = target
        }

        /// `302 Found from GET https://a.test/ to GET https://b.test/`, without secrets.
        public var description: String {
            let redaction = request.redaction
            return
                "\(status) from \(request.method.printable) \(redaction.url(of: request)) to \(target.method.printable) "
                + redaction.url(of: target)
        }
    }
}

extension RedirectPolicy.Redirect {
    /// Why a redirect was not followed. The caller then receives the 3xx response.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The policy of the request or the client does not allow the redirect.
        case policy
        /// The redirect leads to a different origin, and either the policy does not allow that or the body is secret.
        case otherOrigin
        /// The redirect leads from https to http.
        case downgrade
        /// The redirect leads to a URL with a scheme other than http and https.
        case scheme
        /// The `Location` is missing or malformed, or there are several that differ.
        case location
        /// The body would have to be sent again, but it can be sent only once.
        case oneTimeBody

        public var description: String {
            switch self {
            case .policy: "the redirect policy does not allow following the redirect"
            case .otherOrigin:
                "the redirect leads to a different origin, and the redirect policy forbids it or the body is secret"
            case .downgrade:
                "the redirect leads from https to http (to follow it, use a policy with allowingDowngrade())"
            case .scheme: "the redirect leads to a scheme other than http or https"
            case .location: "the redirect has no valid Location header"
            case .oneTimeBody:
                "the redirect requires sending the body again, but it can be sent only once (use a replayable body)"
            }
        }
    }
}

private enum RedirectsValue: HTTPRequestOption {
    static let defaultOptionValue: [RedirectPolicy.Redirect] = []
}

private enum RedirectRefusalValue: HTTPRequestOption {
    static let defaultOptionValue: RedirectPolicy.Redirect.Refusal? = nil
}

extension HTTPResponse {
    /// The redirects that were followed before this response, in order.
    public var redirects: [RedirectPolicy.Redirect] {
        get { self[option: RedirectsValue.self] }
        set { self[option: RedirectsValue.self] = newValue }
    }

    /// Why this redirect was not followed. Nil for any other response.
    public var redirectRefusal: RedirectPolicy.Redirect.Refusal? {
        get { self[option: RedirectRefusalValue.self] }
        set { self[option: RedirectRefusalValue.self] = newValue }
    }
}

// SPDX-License-Identifier: MIT
/// Follows redirects (RFC 9110, 15.4). A client contains this link, so create it only for a chain of your own.
///
/// ```swift
/// FollowRedirects()                                          // the safe policy, at most 20 redirects
/// FollowRedirects(.sameOrigin.removing(["X-Tenant-Key"]))
/// request.redirectPolicy = .never                            // for one request
/// ```
///
/// Put it above the environment and the authentication, so that they apply to the origin of each hop.
///
/// ## How a redirect is followed
///
/// - Each redirect passes through the links below as a new load. ``HTTPResponse/redirects`` lists the followed
///   redirects.
/// - `Location` is resolved against the URL of the redirected request (RFC 3986). A username and password in it are
///   never used.
/// - If the scheme, the host or the port changes, credentials, secret headers, and the headers in the policy are
///   removed for the rest of the load. A header is secret because of its name (``Redaction/standard``), because the
///   ``RequestSettings/redaction`` of the request lists it, or because of ``HTTPHeaders/setSecret(_:for:)``.
/// - ``RequestSettings/responseLimit`` does not apply to the body of a followed redirect.
///
/// ## When a redirect isn't followed
///
/// The link refuses a redirect in these cases:
///
/// - The policy does not allow it.
/// - It leads from https to http, or to a scheme other than http and https.
/// - A secret body (``RequestSettings/isSecret``) would leave its origin, or a one-shot body would have to be sent
///   again.
///
/// It then returns the redirect as the response, and sets ``HTTPResponse/redirectRefusal``. If the status isn't
/// accepted, the error message contains the reason.
///
/// Too many redirects, or a loop, fail with `.tooManyRedirects`, which contains the last response. A redirect to a URL
/// that was requested before is a loop, unless a cookie has been set since. A redirect to its own URL is followed once,
/// and again as long as its headers (other than `Date` and `Age`) change.
public struct FollowRedirects: LoaderLink {
    private let policy: RedirectPolicy

    /// Creates a link with a policy for requests that don't set one. Default: ``RedirectPolicy/safely``.
    public init(_ policy: RedirectPolicy = .safely) { self.policy = policy }

    @inline(__always)
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let response = try await next.load(request)
        guard RedirectRules.isRedirect(response.status) else { return response }
        return try await follow(response, of: request, next: next)
    }

    private func follow(
        _ first: HTTPResponse, of original: HTTPRequest, next: any HTTPLoader
    ) async throws(HTTPError) -> HTTPResponse {
        let policy = original.redirectPolicy?.removing(policy.removedHeaders) ?? policy
        guard policy.limit >= 0 else {
            throw HTTPError(
                .invalidRequest, request: original, message: "the redirect limit is negative (use 0 or more)",
                mayHaveBeenSent: true
            )
        }
        var (request, response, trail) = (original, first, RedirectTrail(of: original, limit: policy.limit))
        while RedirectRules.isRedirect(response.status) {
            response.returnToOrigin(ofRedirected: request)
            switch try await step(from: request, response: response, policy: policy) {
            case .success(let hop):
                try await add(response, target: hop, to: &trail)
                request.observation?.follow(response, to: hop)
                request = hop
                await response.body.discard()
                do throws(HTTPError) {
                    response = try await next.load(hop)
                } catch {
                    // The server has processed the original request, even if the hop was not sent.
                    throw error.with(mayHaveBeenSent: true)
                }
            case .failure(let refusal):
                request.observation?.refuse(response, refusal)
                response.redirectRefusal = refusal
                response.statusReason = refusal.description
                response.redirects = trail.redirects
                return response
            }
        }
        response.redirects = trail.redirects
        return response
    }

    private func add(
        _ response: HTTPResponse, target hop: HTTPRequest, to trail: inout RedirectTrail
    ) async throws(HTTPError) {
        do throws(HTTPError) {
            try trail.add(response, target: hop)
            if let left = hop.timeLeft, left <= .zero {
                throw hop.deadlinePassed(while: "following a redirect", response: response)
            }
        } catch {
            throw error.with(response: await (error.response ?? response).keptInMemory())
        }
    }

    private func step(
        from request: HTTPRequest, response: HTTPResponse, policy: RedirectPolicy
    ) async throws(HTTPError) -> Result<HTTPRequest, RedirectPolicy.Redirect.Refusal> {
        let proposal: HTTPRequest
        do throws(RedirectPolicy.Redirect.Refusal) {
            proposal = try RedirectRules.proposal(for: request, response: response, policy: policy)
        } catch {
            return .failure(error)
        }
        guard case .custom(let choose) = policy.rule else { return .success(proposal) }
        return try await choice(choose, of: proposal, from: request, response: response, policy: policy)
    }

    private func choice(
        _ choose: RedirectPolicy.Choice, of proposal: HTTPRequest, from request: HTTPRequest, response: HTTPResponse,
        policy: RedirectPolicy
    ) async throws(HTTPError) -> Result<HTTPRequest, RedirectPolicy.Redirect.Refusal> {
        var hop = proposal
        do {
            guard let chosen = try await choose(proposal, response) else { return .failure(.policy) }
            (hop, hop.context) = (chosen, proposal.context)
            try hop.validate()
        } catch {
            throw HTTPError(error, request: proposal, response: await response.keptInMemory())
        }
        guard hop.body.isEmpty || hop.body.isReplayable else { return .failure(.oneTimeBody) }
        let answered = response.request
        let leaves = RedirectRules.leaves(hop, request, answered)
        if hop.isSecret, !hop.body.isEmpty, leaves != false { return .failure(.otherOrigin) }
        hop.removedHeaders.formUnion(proposal.removedHeaders)
        if hop.origin != proposal.origin {
            RedirectRules.withhold(from: &hop, of: request, leaves: leaves, policy: policy)
        }
        return .success(hop)
    }
}

extension HTTPResponse {
    /// Assigns a redirect to the origin that ``FollowRedirects`` has sent its request to, if a link below has moved the
    /// request, for example for balancing. The load then keeps the credentials and cookies of that origin.
    fileprivate mutating func returnToOrigin(ofRedirected request: HTTPRequest) {
        guard redirects.isEmpty else { return }
        let sent = request.withEnvironment
        let paths = [sent, self.request].map { PercentEncoding.normalized($0.path.string.utf8) }
        // With a different path, a loader below may have followed a redirect to a different server itself.
        guard let origin = sent.origin, origin != self.request.origin, paths[0] == paths[1] else { return }
        returnToOrigin(of: sent)
    }
}

struct RedirectTrail {
    private(set) var redirects: [RedirectPolicy.Redirect] = []
    private var visited: Set<String> = []
    /// The headers of the previous response without Date and Age. Nil unless it redirected to its own URL.
    private var lastToItself: [HTTPHeaders.Field]?
    /// The last request as it was above the links below, because a signer may write its URL in a different form.
    private var asked: String
    private let limit: Int

    init(of request: HTTPRequest, limit: Int) { (asked, self.limit) = (Self.key(of: request.withEnvironment), limit) }

    /// Adds a redirect, unless it forms a loop. A redirect that sets a cookie may lead to an earlier URL, because the
    /// response may then differ. A redirect to its own URL is a loop only if the same redirect is received again.
    mutating func add(_ response: HTTPResponse, target: HTTPRequest) throws(HTTPError) {
        var response = response
        response.redirects = redirects
        guard redirects.count < limit else {
            throw HTTPError(
                .tooManyRedirects, request: response.request, response: response,
                message: "more than \(limit) redirects, which the redirect policy does not allow")
        }
        if leadsInCircle(response, to: Self.key(of: target)) {
            throw HTTPError(
                .tooManyRedirects, request: response.request, response: response,
                message: "the redirects form a loop")
        }
        redirects.append(RedirectPolicy.Redirect(response: response, target: target))
    }

    private mutating func leadsInCircle(_ response: HTTPResponse, to target: String) -> Bool {
        let places = [asked, Self.key(of: response.request)]
        asked = target
        let previous = lastToItself
        lastToItself = nil
        if response.headers.contains(.setCookie) {
            visited = []
            return false
        }
        visited.formUnion(places)
        guard places.contains(target) else { return visited.contains(target) }
        let fields = response.headers.filter { $0.name != .date && $0.name != .age }
        lastToItself = fields
        return previous == fields
    }

    /// Identifies a request without its fragment, because the fragment isn't sent to the server.
    private static func key(of request: HTTPRequest) -> String {
        "\(request.method) \(request.origin?.description ?? "") \(request.target)"
    }
}

extension Observation {
    func follow(_ response: HTTPResponse, to hop: HTTPRequest) {
        record(.redirectDecided) { event in
            event.describe(hop)
            event[.status] = response.status.code
            event[.isFollowed] = true
            let withheld = response.request.headers.filter { hop.removedHeaders.contains($0.name) }
            if !withheld.isEmpty { event[.withheld] = withheld.map { Redaction.visible($0.name.rawValue) } }
        }
    }

    func refuse(_ response: HTTPResponse, _ refusal: RedirectPolicy.Redirect.Refusal) {
        record(.redirectDecided) { event in
            event[.status] = response.status.code
            event[.isFollowed] = false
            event[.reason] = refusal.description
        }
    }
}

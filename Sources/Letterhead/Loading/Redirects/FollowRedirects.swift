/// Follows redirects (RFC 9110, 15.4), each with a load of the links below.
///
/// ```swift
/// FollowRedirects()                                          // safely, at most 20
/// FollowRedirects(.sameOrigin.withholding(["X-Tenant-Key"]))
/// request.redirectPolicy = .never                            // for one request
/// ```
///
/// `Location` is resolved by RFC 3986 against the URL that was answered. When scheme, host or port change, credentials,
/// secret headers and those that the policy names stay behind, for the rest of the load; user and password in a `Location`
/// are never used. A header is secret by the parts of its name, as ``Redaction/standard`` judges it, by the request's own
/// redaction, or by ``HTTPHeaders/setSecret(_:for:)``. The body of a request that is ``HTTPRequest/isSecret`` is not sent to
/// another origin: the redirect is refused. A redirect that is refused, by the policy, to another scheme, from https to http, or because its body
/// can be sent only once, is itself the result, with ``HTTPResponse/redirectRefusal``; too many, or a circle, are
/// `.tooManyRedirects`, with the last response. What was followed is in ``HTTPResponse/redirects``.
///
/// Put it above the environment and the authentication, so that each hop is filled and signed for its own origin.
public struct FollowRedirects: LoaderLink {
    private let policy: RedirectPolicy

    /// Makes the link.
    ///
    /// - Parameter policy: for requests without one of their own. Default: ``RedirectPolicy/safely``.
    public init(_ policy: RedirectPolicy = .safely) { self.policy = policy }

    /// Has the request answered, and follows where the answer leads.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let response = try await next.load(request)
        guard RedirectRules.isRedirect(response.status) else { return response }
        return try await follow(response, of: request, next: next)
    }

    private func follow(
        _ first: HTTPResponse, of original: HTTPRequest, next: any HTTPLoader
    ) async throws(HTTPError) -> HTTPResponse {
        let policy = original.redirectPolicy?.withholding(policy.withheldHeaders) ?? policy
        guard policy.limit >= 0 else {
            throw HTTPError(
                .invalidRequest, request: original, message: "the limit of redirects is negative", mayHaveBeenSent: true
            )
        }
        var (request, response, trail) = (original, first, RedirectTrail(limit: policy.limit))
        while RedirectRules.isRedirect(response.status) {
            switch try await step(from: request, response: response, policy: policy) {
            case .success(let hop):
                do throws(HTTPError) {
                    try trail.add(response, target: hop)
                    if let left = hop.timeLeft, left <= .zero {
                        throw hop.deadlinePassed(while: "following a redirect", response: response)
                    }
                } catch {
                    throw error.with(response: await (error.response ?? response).keptInMemory())
                }
                request = hop
                response = try await next.load(hop)
            case .failure(let refusal):
                response.redirectRefusal = refusal
                response.redirects = trail.redirects
                return response
            }
        }
        response.redirects = trail.redirects
        return response
    }

    private func step(
        from request: HTTPRequest, response: HTTPResponse, policy: RedirectPolicy
    ) async throws(HTTPError) -> Result<HTTPRequest, RedirectRefusal> {
        let proposal: HTTPRequest
        do throws(RedirectRefusal) {
            proposal = try RedirectRules.proposal(for: request, response: response, policy: policy)
        } catch {
            return .failure(error)
        }
        guard case .custom(let choose) = policy.rule else { return .success(proposal) }
        return try await choice(choose, of: proposal, response: response, policy: policy)
    }

    private func choice(
        _ choose: RedirectPolicy.Choice, of proposal: HTTPRequest, response: HTTPResponse, policy: RedirectPolicy
    ) async throws(HTTPError) -> Result<HTTPRequest, RedirectRefusal> {
        var hop = proposal
        do {
            guard let chosen = try await choose(proposal, response) else { return .failure(.policy) }
            hop = chosen
            if hop.id == proposal.id { try hop.validate() }
        } catch {
            throw HTTPError(error, request: proposal, response: await response.keptInMemory())
        }
        guard hop.id == proposal.id else {
            throw HTTPError(
                .invalidRequest, request: proposal, response: await response.keptInMemory(),
                message:
                    "the custom redirect policy replaced the request by another one; change the one that it is given")
        }
        guard hop.body.isEmpty || hop.body.isReplayable else { return .failure(.oneTimeBody) }
        if hop.isSecret, !hop.body.isEmpty, hop.origin != response.request.origin { return .failure(.otherOrigin) }
        hop.withheldHeaders.formUnion(proposal.withheldHeaders)
        if hop.origin != proposal.origin { RedirectRules.withhold(from: &hop, after: response.request, policy: policy) }
        return .success(hop)
    }
}

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
/// A redirect to a URL that was requested before is a circle, unless a cookie was set since. A redirect to its own URL is
/// followed once, and again whenever its headers change. The size of a redirect's body does not count for
/// ``HTTPRequest/responseLimit`` when the redirect is followed.
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
        let arrival = try await arrival(of: request, next: next)
        guard RedirectRules.isRedirect(arrival.response.status) else { return arrival.response }
        return try await follow(arrival, of: request, next: next)
    }

    /// A response, or what arrived of a redirect whose body is larger than the limit of the request.
    private struct Arrival {
        var response: HTTPResponse
        /// The error to throw when the redirect is not followed.
        var failure: HTTPError?
    }

    /// The body of a redirect that is followed is not wanted, so its size does not count.
    private func arrival(of request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> Arrival {
        do {
            return Arrival(response: try await next.load(request))
        } catch {
            guard error.code == .responseTooLarge, let response = error.response,
                RedirectRules.isRedirect(response.status)
            else { throw error }
            return Arrival(response: response, failure: error)
        }
    }

    private func follow(
        _ first: Arrival, of original: HTTPRequest, next: any HTTPLoader
    ) async throws(HTTPError) -> HTTPResponse {
        let policy = original.redirectPolicy?.withholding(policy.withheldHeaders) ?? policy
        guard policy.limit >= 0 else {
            throw HTTPError(
                .invalidRequest, request: original, message: "the limit of redirects is negative", mayHaveBeenSent: true
            )
        }
        var (request, arrival, trail) = (original, first, RedirectTrail(limit: policy.limit))
        while RedirectRules.isRedirect(arrival.response.status) {
            switch try await step(from: request, response: arrival.response, policy: policy) {
            case .success(let hop):
                try await add(arrival.response, target: hop, to: &trail)
                request = hop
                arrival = try await self.arrival(of: hop, next: next)
            case .failure(let refusal):
                if let failure = arrival.failure { throw failure }
                arrival.response.redirectRefusal = refusal
                arrival.response.redirects = trail.redirects
                return arrival.response
            }
        }
        arrival.response.redirects = trail.redirects
        return arrival.response
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

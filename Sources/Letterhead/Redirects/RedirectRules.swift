import Foundation

/// The rules for redirects: pure functions from a request and its response to the next request.
enum RedirectRules {
    /// Whether a status is a redirect to follow. 300, 304, 305 and 306 are not (RFC 9110, 15.4).
    static func isRedirect(_ status: HTTPStatus) -> Bool {
        switch status.code {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    /// Returns the request that a policy proposes for a redirect.
    static func proposal(
        for request: HTTPRequest, response: HTTPResponse, policy: RedirectPolicy
    ) throws(HTTPRedirect.Refusal) -> HTTPRequest {
        let answered = response.request
        var hop = try self.target(of: response, for: request)
        hop.method = answered.method
        switch policy.rule {
        case .never: throw .policy
        case .sameOrigin where hop.origin != answered.origin: throw .otherOrigin
        case .keepingOriginal: break
        default: changeMethod(of: &hop, status: response.status)
        }
        if !allowsDowngrade(policy), isSecure(answered), !isSecure(hop) { throw .downgrade }
        // A secret body, such as that of a login, is intended for its original origin only.
        if request.isSecret, !hop.body.isEmpty, hop.origin != answered.origin { throw .otherOrigin }
        guard hop.body.isEmpty || hop.body.isReplayable else { throw .oneTimeBody }
        withhold(from: &hop, after: answered, policy: policy)
        return hop
    }

    /// Marks a request as redirected, and permanently removes what must not be sent to another origin.
    static func withhold(from hop: inout HTTPRequest, after answered: HTTPRequest, policy: RedirectPolicy) {
        var names = hop.withheldHeaders
        if hop.origin != answered.origin {
            names.formUnion(RedirectPolicy.standardWithheldHeaders)
            names.formUnion(policy.withheldHeaders)
            names.formUnion(hop.redaction.headers)
            names.formUnion(hop.secretHeaders.map(\.name))
            hop.headers = HTTPHeaders(hop.headers.filter { !names.contains($0.name) })
        }
        hop.withheldHeaders = names
    }

    /// Returns the request with the URL of `Location`, resolved against the URL of the redirecting request.
    private static func target(
        of response: HTTPResponse, for request: HTTPRequest
    ) throws(HTTPRedirect.Refusal) -> HTTPRequest {
        let places = response.headers.values(for: .location)
        guard let place = places.first, places.allSatisfy({ $0.isSame(as: place) }), !place.isEmpty,
            !place.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }),
            let base = try? response.request.urlString()
        else { throw .location }
        let parts = URLParts(base).resolving(URLParts(place)).escaped(path: .pathLiteral, query: .queryLiteral)
        guard let scheme = parts.scheme.map(ASCII.lowercased), scheme == "http" || scheme == "https" else {
            throw .scheme
        }
        guard let url = URL(string: parts.string, encodingInvalidCharacters: false) else { throw .location }
        let hop = request.moved(to: HTTPRequest(url: url), scheme: scheme)
        guard (try? hop.validate()) != nil else { throw .location }
        return hop
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

    private static func allowsDowngrade(_ policy: RedirectPolicy) -> Bool {
        if case .custom = policy.rule { true } else { policy.allowsDowngrade }
    }

    private static func isSecure(_ request: HTTPRequest) -> Bool { ASCII.lowercased(request.scheme) == "https" }
}

extension HTTPRequest {
    /// Returns this request with the URL of another one, without a username and password.
    fileprivate func moved(to other: HTTPRequest, scheme: String) -> HTTPRequest {
        var moved = self
        moved.scheme = scheme
        moved.host = other.host
        moved.port = other.port
        moved.userInfo = nil
        moved.path = other.path
        moved.query = other.query
        moved.fragment = other.fragment
        // The required origin applies only to the first request. The redirect policy checks the following ones.
        moved.options.remove(RequiredOriginOption.self)
        return moved
    }
}

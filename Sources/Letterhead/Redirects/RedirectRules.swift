import Foundation

/// What follows a redirect: pure functions from a request and its answer to the next request.
enum RedirectRules {
    /// 300, 304, 305 and 306 lead nowhere by themselves (RFC 9110, 15.4).
    static func isRedirect(_ status: HTTPStatus) -> Bool {
        switch status.code {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    /// The request that a policy makes of a redirect.
    static func proposal(
        for request: HTTPRequest, response: HTTPResponse, policy: RedirectPolicy
    ) throws(RedirectRefusal) -> HTTPRequest {
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
        // A body that is secret as a whole, such as a login, is for the origin that it was written for.
        if request.isSecret, !hop.body.isEmpty, hop.origin != answered.origin { throw .otherOrigin }
        guard hop.body.isEmpty || hop.body.isReplayable else { throw .oneTimeBody }
        withhold(from: &hop, after: answered, policy: policy)
        return hop
    }

    /// Marks a request as redirected, and takes away for good what must not go to another origin.
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

    /// The request with the URL that `Location` names, resolved against the URL that was answered.
    private static func target(
        of response: HTTPResponse, for request: HTTPRequest
    ) throws(RedirectRefusal) -> HTTPRequest {
        let places = Set(response.headers.values(for: .location))
        guard let place = places.first, places.count == 1, !place.isEmpty,
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

    /// RFC 9110, 15.4.2 to 15.4.4, as the Fetch standard, 4.4 settles them.
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
                !ASCII.lowercased(field.name.rawValue).hasPrefix("content-")
                    && field.name != .transferEncoding && field.name != .trailer && field.name != .expect
            })
    }

    private static func allowsDowngrade(_ policy: RedirectPolicy) -> Bool {
        if case .custom = policy.rule { true } else { policy.allowsDowngrade }
    }

    private static func isSecure(_ request: HTTPRequest) -> Bool { ASCII.lowercased(request.scheme) == "https" }
}

extension HTTPRequest {
    /// This request at the URL of another; user and password of that URL are left behind.
    fileprivate func moved(to other: HTTPRequest, scheme: String) -> HTTPRequest {
        var moved = self
        moved.scheme = scheme
        moved.host = other.host
        moved.port = other.port
        moved.userInfo = nil
        moved.path = other.path
        moved.query = other.query
        moved.fragment = other.fragment
        return moved
    }
}

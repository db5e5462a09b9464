/// One redirect that was followed, as the response of its load tells it.
public struct HTTPRedirect: Sendable, CustomStringConvertible {
    /// The request that was answered by the redirect, as it went out.
    public let request: HTTPRequest
    /// How it was answered.
    public let status: HTTPStatus
    /// The headers of that answer.
    public let headers: HTTPHeaders
    /// The request that followed, before the links below the redirects added to it.
    public let target: HTTPRequest

    init(response: HTTPResponse, target: HTTPRequest) {
        request = response.request.withoutHold
        status = response.status
        headers = response.headers
        self.target = target.withoutHold
    }

    /// `302 Found from GET https://a.test/ to GET https://b.test/`, without secrets.
    public var description: String {
        let redaction = request.redaction
        return "\(status) from \(request.method.shown) \(redaction.url(of: request)) to \(target.method.shown) "
            + redaction.url(of: target)
    }
}

/// Why a redirect was not followed; the 3xx is then the result.
public enum RedirectRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The policy of the request or the client says so.
    case policy
    /// It leads to another origin, and the policy is to stay, or the body is secret as a whole.
    case otherOrigin
    /// It leads from https to http.
    case downgrade
    /// It leads to something that is neither http nor https.
    case scheme
    /// The `Location` is missing or malformed, or there are several.
    case location
    /// The body would have to be sent again, and can be sent only once.
    case oneTimeBody

    /// Why, and what to do.
    public var description: String {
        switch self {
        case .policy: "the redirect was not followed, as the redirect policy says"
        case .otherOrigin:
            "the redirect leads to another origin, which the redirect policy or a secret body does not allow"
        case .downgrade: "the redirect leads from https to http; a policy may allow it with allowingDowngrade()"
        case .scheme: "the redirect leads to a scheme that is neither http nor https"
        case .location: "the redirect names no place to go to: its Location is missing or malformed"
        case .oneTimeBody:
            "the redirect asks for the body again, which can be sent once only; use one that is replayable"
        }
    }
}

private enum RedirectsValue: HTTPRequestOption {
    static let defaultOptionValue: [HTTPRedirect] = []
}

private enum RedirectRefusalValue: HTTPRequestOption {
    static let defaultOptionValue: RedirectRefusal? = nil
}

extension HTTPResponse {
    /// Every redirect that was followed on the way to this response, in order.
    public var redirects: [HTTPRedirect] {
        get { self[option: RedirectsValue.self] }
        set { self[option: RedirectsValue.self] = newValue }
    }

    /// Why this response, a redirect, was not followed; nil for any other.
    public var redirectRefusal: RedirectRefusal? {
        get { self[option: RedirectRefusalValue.self] }
        set { self[option: RedirectRefusalValue.self] = newValue }
    }
}

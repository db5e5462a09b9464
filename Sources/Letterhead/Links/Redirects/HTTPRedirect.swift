extension RedirectPolicy {
    public struct Redirect: Sendable, CustomStringConvertible {
        /// The request that received the redirect, as it was sent.
        public let request: HTTPRequest
        public let status: HTTPStatus
        public let headers: HTTPHeaders
        /// The request to which the redirect led, before the links below ``FollowRedirects`` changed it.
        public let target: HTTPRequest

        /// For tests.
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
    /// The reason why a redirect was not followed. The 3xx response is returned in that case.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The redirect policy of the request or the client does not allow the redirect.
        case policy
        /// The redirect leads to another origin, and either the policy does not allow that or the body is secret.
        case otherOrigin
        /// The redirect leads from https to http.
        case downgrade
        /// The redirect leads to a URL whose scheme is neither http nor https.
        case scheme
        /// The `Location` is missing or malformed, or there are several that differ.
        case location
        /// The body would have to be sent again, and is a one-shot body.
        case oneTimeBody

        public var description: String {
            switch self {
            case .policy: "the redirect was not followed because of the redirect policy"
            case .otherOrigin:
                "the redirect leads to another origin, and the redirect policy forbids it or the body is secret"
            case .downgrade:
                "the redirect leads from https to http; to follow it, use a policy with allowingDowngrade()"
            case .scheme: "the redirect leads to a scheme other than http or https"
            case .location: "the redirect has no valid Location header"
            case .oneTimeBody:
                "the redirect requires sending the body again, but it can be sent only once; use a replayable body"
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

    /// The reason why this redirect was not followed; nil for any other response.
    public var redirectRefusal: RedirectPolicy.Redirect.Refusal? {
        get { self[option: RedirectRefusalValue.self] }
        set { self[option: RedirectRefusalValue.self] = newValue }
    }
}

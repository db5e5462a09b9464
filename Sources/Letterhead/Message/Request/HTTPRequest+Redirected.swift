/// What redirects have done to a request on its way.
enum RedirectedOption: HTTPRequestOption {
    /// No redirect led to it.
    static let defaultOptionValue: Set<HTTPHeaders.Name>? = nil
}

extension HTTPRequest {
    /// Whether a redirect led to it: its URL is the server's word, and no link adds to it.
    public var isRedirected: Bool { self[option: RedirectedOption.self] != nil }

    /// The headers that a redirect to another origin took away for the rest of the load; empty when none did.
    ///
    /// A law for links below a redirect link: what belongs to the origin of the first request, its credentials and the
    /// headers of its environment, is not put back while this is not empty, even when a later redirect leads home again.
    /// Only a link that knows what belongs to which origin, such as a cookie jar, gives each its own. Setting it marks
    /// the request as redirected.
    public var withheldHeaders: Set<HTTPHeaders.Name> {
        get { self[option: RedirectedOption.self] ?? [] }
        set { self[option: RedirectedOption.self] = newValue }
    }
}

extension LoaderLink {
    /// Returns the same link with a name, which is part of the description of a chain.
    ///
    /// ```swift
    /// let limits = (LimitRate(10, per: .seconds(1)) --> Throttle(limit: 4)).named("limits")
    /// let chain = limits --> HTTPClient.defaultTransport
    /// ```
    public func named(_ name: String) -> some CompositeLink { LinkGroup(name, self) }
}

/// Several links as one, with a name for the printed chain.
///
/// Without a link, it is an empty group that passes all requests to the next loader.
struct LinkGroup: CompositeLink, CustomStringConvertible {
    private let name: String
    private let link: (any LoaderLink)?

    /// Creates a group from links and a name.
    init(_ name: String, _ links: (any LoaderLink)?) {
        self.name = name
        link = links
    }

    /// The links in order.
    var parts: [(name: String?, link: any LoaderLink)] { link.map { [(nil, $0)] } ?? [] }

    /// Calls the links in order, followed by the next loader.
    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard let link else { return try await next.load(request) }
        return try await link.load(request, next: next)
    }

    /// Resets the links in order, and then the next loader once.
    func reset(next: any HTTPLoader) async { await (link --> next).reset() }

    /// The name with the links, such as `resilience(LimitRate --> Throttle(4))`.
    var description: String { "\(name)(\(link.map { chainName(of: $0) } ?? ""))" }
}

extension LoaderLink {
    /// The same link under a name that a printed chain shows.
    ///
    /// ```swift
    /// let limits = (LimitRate(10, per: .seconds(1)) --> Throttle(limit: 4)).named("limits")
    /// let chain = limits --> HTTPClient.defaultTransport
    /// ```
    public func named(_ name: String) -> some CompositeLink { LinkGroup(name, self) }
}

/// Several links as one, under a name that a printed chain shows.
///
/// nil is an empty group, which passes everything on.
struct LinkGroup: CompositeLink, CustomStringConvertible {
    private let name: String
    private let link: (any LoaderLink)?

    /// Links under a name.
    init(_ name: String, _ links: (any LoaderLink)?) {
        self.name = name
        link = links
    }

    /// The links, in order.
    var parts: [(name: String?, link: any LoaderLink)] { link.map { [(nil, $0)] } ?? [] }

    /// Has the links answer, one behind the other, with the next loader behind the last.
    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard let link else { return try await next.load(request) }
        return try await link.load(request, next: next)
    }

    /// Resets the links in order, and what is below, once.
    func reset(next: any HTTPLoader) async { await (link --> next).reset() }

    /// `resilience(LimitRate --> Throttle(4))`.
    var description: String { "\(name)(\(link.map { chainName(of: $0) } ?? ""))" }
}

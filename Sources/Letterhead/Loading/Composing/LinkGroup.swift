/// Several links as one, under a name that a printed chain shows.
///
/// ```swift
/// let resilience = LinkGroup("resilience", LimitRate(10, per: .seconds(1)) --> Throttle(limit: 4))
/// let chain = resilience --> HTTPClient.defaultTransport
/// ```
///
/// nil is an empty group, which passes everything on.
public struct LinkGroup: CompositeLink, CustomStringConvertible {
    private let name: String
    private let link: (any LoaderLink)?

    /// Links under a name.
    public init(_ name: String, _ links: (any LoaderLink)?) {
        self.name = name
        link = links
    }

    /// The links, in order.
    public var parts: [(name: String?, link: any LoaderLink)] { link.map { [(nil, $0)] } ?? [] }

    /// Has the links answer, one behind the other, with the next loader behind the last.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard let link else { return try await next.load(request) }
        return try await link.load(request, next: next)
    }

    /// Resets the links in order, and what is below, once.
    public func reset(next: any HTTPLoader) async { await (link --> next).reset() }

    /// `resilience(LimitRate --> Throttle(4))`.
    public var description: String { "\(name)(\(link.map { chainName(of: $0) } ?? ""))" }
}

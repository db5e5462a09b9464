/// Whether a throttle of all requests stands before a link that holds back the requests to one host, or of one key.
///
/// In that order, requests that wait for a slow host hold the slots that requests to quick hosts need.
enum ThrottleOrder {
    /// No link below limits anything, which depends on the type of the next loader alone.
    case unlimited
    /// What is below limits all requests together.
    case allowed
    /// A link below has a narrower scope.
    case broken

    init(below next: any HTTPLoader) {
        guard let chain = next as? any LinkedLoader else {
            self = .unlimited
            return
        }
        self = Self.order(of: chain.links)
    }

    /// The rule that a broken order breaks, and the remedy.
    static let rule =
        "a Throttle of all requests stands before a Throttle or LimitRate of a narrower scope: requests that wait for one "
        + "host would hold the slots of all; put the link of the narrower scope first"

    private static func order(of links: [any LoaderLink]) -> ThrottleOrder {
        var order = ThrottleOrder.unlimited
        for link in links {
            if let limit = link as? any ScopedLimit {
                if !limit.scope.isClient { return .broken }
                order = .allowed
            } else if let composite = link as? any CompositeLink {
                // Other values of the type may be made of other links.
                let parts = composite.parts.map(\.link).flatMap { ($0 as? LinkChain)?.links ?? [$0] }
                if case .broken = Self.order(of: parts) { return .broken }
                order = .allowed
            }
        }
        return order
    }
}

/// A link that holds requests back, those of each scope apart.
protocol ScopedLimit: LoaderLink {
    var scope: ThrottleScope { get }
}

/// Checks whether a throttle for all requests is above a link that limits the requests to each host or with each key.
///
/// In that order, requests that wait for a slow host occupy the slots that requests to fast hosts need.
enum ThrottleOrder {
    /// No link below has a limit, and the same is true of every other loader with the type of the next loader.
    case unlimited
    /// The links below limit all requests together.
    case allowed
    /// A link below has a narrower scope.
    case broken

    init(below next: any HTTPLoader) {
        guard let chain = next as? any LinkedLoader else {
            self = .unlimited
            return
        }
        let order = Self.order(of: chain.links)
        if case .unlimited = order, !chain.hasLinksOfItsType { self = .allowed } else { self = order }
    }

    /// The rule of the order, and the remedy.
    static let rule =
        "a Throttle for all requests is above a Throttle or LimitRate with a narrower scope: requests that wait for "
        + "one host would occupy the slots of all hosts; put the link with the narrower scope first"

    private static func order(of links: [any LoaderLink]) -> ThrottleOrder {
        var order = ThrottleOrder.unlimited
        for link in links {
            if let limit = link as? any ScopedLimit {
                if !limit.scope.isClient { return .broken }
                order = .allowed
            } else if let composite = link as? any CompositeLink {
                // Other values of this type may contain other links.
                let parts = composite.parts.map(\.link).flatMap { ($0 as? LinkChain)?.links ?? [$0] }
                if case .broken = Self.order(of: parts) { return .broken }
                order = .allowed
            }
        }
        return order
    }
}

/// A link that limits the requests of each scope separately.
protocol ScopedLimit: LoaderLink {
    var scope: Throttling.Scope { get }
}

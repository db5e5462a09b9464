extension RequestTemplate {
    /// Says which statuses count as success, in place of the template's own word: `.accepting([200, 404])`.
    public func accepting(_ statuses: HTTPStatusSet) -> WithAcceptedStatuses<Self> {
        WithAcceptedStatuses(base: self, statuses: statuses)
    }
}

/// A template with other accepted statuses.
public struct WithAcceptedStatuses<Base: RequestTemplate>: RequestDecorator {
    /// What is wrapped.
    public var base: Base
    let statuses: HTTPStatusSet

    /// The statuses given.
    public var acceptedStatuses: HTTPStatusSet? { statuses }
}

extension WithAcceptedStatuses: PageForwarding, PaginatedTemplate where Base: PaginatedTemplate {}

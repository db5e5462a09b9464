extension RequestTemplate {
    /// Sets an option for the loaders, in place of the template's own. An explicit nil is remembered.
    public func option<Option: HTTPRequestOption>(_ option: Option.Type, _ value: Option.Value) -> WithOptions<Self> {
        var added = HTTPRequestOptions()
        added[option] = value
        return WithOptions(base: self, added: added)
    }
}

/// A template with options set, which is what every modifier that steers a loader returns.
///
/// Modifiers that follow each other share one layer: `.timeout(…).retry(…)` is a `WithOptions<Self>`, as `.timeout(…)` is.
public struct WithOptions<Base: RequestTemplate>: RequestDecorator {
    /// What is wrapped.
    public var base: Base
    var added: HTTPRequestOptions

    /// The base's options with these.
    public var options: HTTPRequestOptions {
        var options = base.options
        options.replace(with: added)
        return options
    }

    /// The statuses that `.accepting(_:)` sets, else the base's.
    public var acceptedStatuses: HTTPStatusSet? {
        added.contains(AcceptedStatusesOption.self) ? added.acceptedStatuses : base.acceptedStatuses
    }

    /// Sets one more option, without another layer.
    public func option<Option: HTTPRequestOption>(_ option: Option.Type, _ value: Option.Value) -> Self {
        var copy = self
        copy.added[option] = value
        return copy
    }
}

extension WithOptions: PageForwarding, PaginatedTemplate where Base: PaginatedTemplate {}

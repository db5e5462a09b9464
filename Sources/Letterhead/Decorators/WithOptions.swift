extension RequestTemplate {
    /// Sets an option for the links, replacing that of the template. An explicit nil is kept.
    public func option<Option: HTTPRequestOption>(_ option: Option.Type, _ value: Option.Value) -> WithOptions<Self> {
        var added = HTTPRequestOptions()
        added[option] = value
        return WithOptions(base: self, added: added)
    }
}

/// A template with additional options, which all modifiers for links return.
///
/// Consecutive modifiers share one type: `.timeout(…).retry(…)` is a `WithOptions<Self>`, like `.timeout(…)`.
public struct WithOptions<Base: RequestTemplate>: RequestDecorator {
    /// The wrapped template.
    public var base: Base
    var added: HTTPRequestOptions

    /// The options of the base, with those of this modifier.
    public var options: HTTPRequestOptions {
        var options = base.options
        options.replace(with: added)
        return options
    }

    /// The statuses of `.accepting(_:)`, or else those of the base.
    public var acceptedStatuses: HTTPStatusSet? {
        added.contains(AcceptedStatusesOption.self) ? added.acceptedStatuses : base.acceptedStatuses
    }

    /// Sets another option without another layer of `WithOptions`.
    public func option<Option: HTTPRequestOption>(_ option: Option.Type, _ value: Option.Value) -> Self {
        var copy = self
        copy.added[option] = value
        return copy
    }
}

extension WithOptions: PageForwarding, PaginatedTemplate where Base: PaginatedTemplate {}

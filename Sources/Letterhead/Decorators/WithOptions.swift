extension RequestTemplate {
    /// Sets an option for the links. It replaces the option of the template. If the value is nil, the option is set to
    /// nil; it is not removed.
    public func option<Option: HTTPRequestOption>(_ option: Option.Type, _ value: Option.Value) -> WithOptions<Self> {
        var added = HTTPRequestOptions()
        added[option] = value
        return WithOptions(base: self, added: added)
    }
}

/// A template with additional options. All modifiers that set an option return this type.
///
/// Consecutive modifiers of this kind share one wrapper: `.timeout(…).retry(…)` is a `WithOptions<Self>`, as is
/// `.timeout(…)`.
public struct WithOptions<Base: RequestTemplate>: RequestDecorator {
    /// The wrapped template.
    public var base: Base
    var added: HTTPRequestOptions

    /// The options of the base, with those of this decorator.
    public var options: HTTPRequestOptions {
        var options = base.options
        options.replace(with: added)
        return options
    }

    /// The statuses that `.accepting(_:)` has set, or else those of the base.
    public var acceptedStatuses: HTTPStatusSet? {
        added.contains(AcceptedStatusesOption.self) ? added.acceptedStatuses : base.acceptedStatuses
    }

    /// Sets another option in this wrapper, without wrapping it again.
    public func option<Option: HTTPRequestOption>(_ option: Option.Type, _ value: Option.Value) -> Self {
        var copy = self
        copy.added[option] = value
        return copy
    }
}

extension WithOptions: PageForwarding, PaginatedTemplate where Base: PaginatedTemplate {}

extension RequestTemplate {
    /// Sets an option for the loaders, in place of the template's own. An explicit nil is remembered.
    public func option<Option: HTTPRequestOption>(
        _ option: Option.Type, _ value: Option.Value
    ) -> WithOption<Self, Option> {
        WithOption(base: self, value: value)
    }
}

/// A template with an option set; the modifiers that steer a loader are made of it.
public struct WithOption<Base: RequestTemplate, Option: HTTPRequestOption>: RequestDecorator {
    /// What is wrapped.
    public var base: Base
    let value: Option.Value

    /// The base's options with this.
    public var options: HTTPRequestOptions {
        var options = base.options
        options[Option.self] = value
        return options
    }
}

extension WithOption: PageForwarding, PaginatedTemplate where Base: PaginatedTemplate {}

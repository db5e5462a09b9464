extension HTTPRequest {
    /// The template that the request was built from, with its decorators; nil for a request that was created without
    /// one. It is never sent.
    ///
    /// Loaders, observers and tests use it to recognize an endpoint; see ``template(as:)``. The requests of a redirect
    /// and of a retry carry the template of the first request.
    public var template: (any RequestTemplate)? { context.template as? any RequestTemplate }

    /// Returns the template of a type that the request was built from; nil if it was built from another one.
    ///
    /// ```swift
    /// if let getUser = request.template(as: GetUser.self) { print(getUser.login) }
    /// ```
    ///
    /// The template is found inside any number of decorators, and inside an ``AnyTemplate``. The outermost match is
    /// returned, so a decorator can be found as well.
    ///
    /// - Parameter type: the type of the endpoint or of a decorator.
    public func template<Template: RequestTemplate>(as type: Template.Type) -> Template? {
        var next = template
        while let template = next {
            if let match = template as? Template { return match }
            next = (template as? any RequestDecorator)?.base ?? (template as? any ErasingTemplate)?.erased
        }
        return nil
    }

    /// Stores the template that the request was built from, unless one is stored.
    mutating func originate(from template: some RequestTemplate) {
        if context.template == nil { context.template = template }
    }
}

/// A template that hides the type of another one without being its decorator.
protocol ErasingTemplate: RequestTemplate {
    /// The hidden template.
    var erased: any RequestTemplate { get }
}

extension AnyTemplate: ErasingTemplate {}

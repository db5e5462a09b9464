extension RequestTemplate {
    /// Sets the body, in place of the template's own.
    public func body<NewBody: HTTPBody>(_ body: NewBody) -> WithBody<Self, NewBody> {
        WithBody(base: self, body: body)
    }
}

/// A template with another body.
public struct WithBody<Base: RequestTemplate, Body: HTTPBody>: RequestDecorator {
    /// What is wrapped.
    public var base: Base
    /// What is sent.
    public let body: Body
}

extension WithBody: PageForwarding, PaginatedTemplate where Base: PaginatedTemplate {}

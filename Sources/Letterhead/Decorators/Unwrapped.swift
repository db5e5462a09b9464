extension RequestTemplate {
    /// Answers with a part of the template's response: `ListUsers().unwrapping(\.data)` gives what is in the envelope.
    public func unwrapping<Value: Sendable>(
        _ value: any KeyPath<Response, Value> & Sendable
    ) -> Unwrapped<Self, Value> {
        Unwrapped(base: self, value: value)
    }
}

/// A template that answers with a part of the response of another.
public struct Unwrapped<Base: RequestTemplate, Value: Sendable>: RequestDecorator {
    /// What is wrapped.
    public var base: Base
    let value: any KeyPath<Base.Response, Value> & Sendable

    /// What the base cannot decode has no parts.
    public static var _undecodable: String? { Base._undecodable }

    /// The part of what the base decodes.
    public func decode(_ response: HTTPResponse) async throws -> Value {
        try await base.decode(response)[keyPath: value]
    }
}

extension Unwrapped: PaginatedTemplate where Base: PaginatedTemplate {
    /// The base's.
    public var page: Int { base.page }

    /// The base's.
    public var position: PagePosition { base.position }

    /// The same part of the base's next page.
    public func requestForNextPage() -> Self { Unwrapped(base: base.requestForNextPage(), value: value) }

    /// What the base says of the whole response, which is decoded once more for it.
    public func requestForNextPage(after arrival: Page<Value>) async throws -> PageContinuation<Self> {
        let whole = Page(
            try await base.decode(arrival.response), itemCount: arrival.itemCount, response: arrival.response,
            number: arrival.number)
        return try await base.requestForNextPage(after: whole).map { Unwrapped(base: $0, value: value) }
    }

    /// The same part of the base at another place.
    public func resumed(from checkpoint: PageCheckpoint) -> Self {
        Unwrapped(base: base.resumed(from: checkpoint), value: value)
    }
}

// SPDX-License-Identifier: MIT
extension RequestTemplate {
    /// Returns a template that decodes the same response, and returns one property of the value.
    ///
    /// Use it for an API that wraps its values in an envelope: `ListUsers().unwrapping(\.data)` returns only the users.
    public func unwrapping<Value: Sendable>(
        _ value: any KeyPath<Response, Value> & Sendable
    ) -> Unwrapped<Self, Value> {
        Unwrapped(base: self, value: value)
    }
}

/// A template that returns one property from the value that its base decodes. See ``RequestTemplate/unwrapping(_:)``.
public struct Unwrapped<Base: RequestTemplate, Value: Sendable>: RequestDecorator {
    public var base: Base
    let value: any KeyPath<Base.Response, Value> & Sendable

    public func decode(_ response: HTTPResponse) async throws -> Value {
        try await base.decode(response)[keyPath: value]
    }
}

extension Unwrapped: PaginatedDecorator, PaginatedTemplate where Base: PaginatedTemplate {
    /// Continues the base sequence. The base requires its complete value, so the response is decoded again.
    public func requestForNextPage(after arrival: Page<Value>) async throws -> PageContinuation<Self> {
        let whole = Page(
            try await base.decode(arrival.response), itemCount: arrival.itemCount, response: arrival.response,
            number: arrival.number)
        return try await base.requestForNextPage(after: whole).map { Unwrapped(base: $0, value: value) }
    }
}

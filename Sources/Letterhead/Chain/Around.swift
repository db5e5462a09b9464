// SPDX-License-Identifier: MIT
extension LoaderLink {
    /// Returns the link with a closure around it. The closure decides whether and how the link runs.
    ///
    /// ```swift
    /// cache.around { request, inside, past in
    ///     do { return try await inside.load(request) } catch let error as HTTPError where error.code == .cacheBroken {
    ///         return try await past.load(request)
    ///     }
    /// }
    /// ```
    ///
    /// - Parameter body: responds to a request. `inside` is the link followed by the next loader, `past` is the next
    ///   loader alone. If the closure throws, the request fails with its error.
    public func around(
        _ body:
            @escaping @Sendable (
                _ request: HTTPRequest, _ inside: any HTTPLoader, _ past: any HTTPLoader
            ) async throws -> HTTPResponse
    ) -> some CompositeLink {
        Around(self, body)
    }
}

/// A closure around a part of a chain. It decides whether and how the part runs.
struct Around: CompositeLink, CustomStringConvertible {
    /// Responds to a request with the part, or without it.
    typealias Body =
        @Sendable (
            _ request: HTTPRequest, _ inside: any HTTPLoader, _ past: any HTTPLoader
        ) async throws -> HTTPResponse

    private let part: any LoaderLink
    private let body: Body

    init(_ part: any LoaderLink, _ body: @escaping Body) {
        self.part = part
        self.body = body
    }

    var parts: [(name: String?, link: any LoaderLink)] { [(nil, part)] }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        try await request.withHTTPErrors { try await body(request, part --> next, next) }
    }

    var description: String { chainName(of: self, parts: parts) }
}

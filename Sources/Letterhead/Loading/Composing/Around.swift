extension LoaderLink {
    /// The link with a closure around it, which decides whether and how the link runs.
    ///
    /// ```swift
    /// cache.around { request, inside, past in
    ///     do { return try await inside.load(request) } catch let error as HTTPError where error.code == .cacheBroken {
    ///         return try await past.load(request)
    ///     }
    /// }
    /// ```
    ///
    /// - Parameter body: responds to a request. `inside` is the link with the next loader after it, `past` is the next
    ///   loader alone. An error that the closure throws fails the load, and the response to another request is
    ///   `.invalidResponse`.
    public func around(
        _ body:
            @escaping @Sendable (
                _ request: HTTPRequest, _ inside: any HTTPLoader, _ past: any HTTPLoader
            ) async throws -> HTTPResponse
    ) -> some CompositeLink {
        Around(self, body)
    }
}

/// Runs a closure around a part of a chain, which decides whether and how the part runs.
struct Around: CompositeLink, CustomStringConvertible {
    /// Answers a request with the help of the part, or past it.
    typealias Body =
        @Sendable (
            _ request: HTTPRequest, _ inside: any HTTPLoader, _ past: any HTTPLoader
        ) async throws -> HTTPResponse

    private let part: any LoaderLink
    private let body: Body

    /// A closure around a part of a chain.
    init(_ part: any LoaderLink, _ body: @escaping Body) {
        self.part = part
        self.body = body
    }

    /// The part.
    var parts: [(name: String?, link: any LoaderLink)] { [(nil, part)] }

    /// Has the closure answer.
    ///
    /// - Throws: what the closure throws; `.invalidResponse` when it answers with the response to another request.
    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let response: HTTPResponse
        do {
            response = try await body(request, part --> next, next)
        } catch {
            throw HTTPError(error, request: request)
        }
        return try response.answering(request, by: "Around")
    }

    /// `Around(Cache)`.
    var description: String { chainName(of: self, parts: parts) }
}

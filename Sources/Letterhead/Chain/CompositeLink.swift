// SPDX-License-Identifier: MIT
/// A link that consists of other links.
///
/// A reset resets each part, even a part that no request has used. The parts share the next loader, which is reset once.
struct CompositeLink: LoaderLink, CustomStringConvertible {
    private let name: String
    /// In the order of printing. The name is nil for a part that is printed without one.
    private let parts: [(name: String?, link: any LoaderLink)]
    private let answer: @Sendable (HTTPRequest, any HTTPLoader) async throws -> HTTPResponse

    /// Creates a link from a closure that responds to a request with the parts and the next loader.
    init(
        _ name: String, _ parts: [(name: String?, link: any LoaderLink)],
        _ answer: @escaping @Sendable (_ request: HTTPRequest, _ next: any HTTPLoader) async throws -> HTTPResponse
    ) {
        (self.name, self.parts, self.answer) = (name, parts, answer)
    }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        try await request.withHTTPErrors { try await answer(request, next) }
    }

    func reset(next: any HTTPLoader) async {
        for part in parts { await part.link.reset(next: ResetEnd()) }
        await next.reset()
    }

    /// The name with the parts: `When(Throttle(4) | otherwise: Throttle(1))`.
    var description: String {
        let names = parts.map { part in (part.name.map { "\($0): " } ?? "") + chainName(of: part.link) }
        return name + (names.isEmpty ? "" : "(\(names.joined(separator: " | ")))")
    }
}

/// Replaces the rest of the chain while a link is reset, so that the rest is reset once instead of once for each link.
struct ResetEnd: HTTPLoader {
    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        throw HTTPError(
            .resetInProgress, request: request, message: "a link must not send requests during its reset",
            mayHaveBeenSent: false)
    }
}

extension LoaderLink {
    /// Gives the link a name in the description of a chain, to recognize a group of links in a log.
    ///
    /// ```swift
    /// let limits = (Throttle(limit: 2, per: .host) --> Throttle(limit: 4)).named("limits")
    /// let chain = limits --> HTTPClient.defaultTransport
    /// ```
    ///
    /// The description consists of the name and, in parentheses, the links that have it. The requests don't change.
    public func named(_ name: String) -> some LoaderLink {
        CompositeLink(name, [(nil, self)]) { try await load($0, next: $1) }
    }

    /// Returns the link with a closure around it, which decides for each request whether and how the link runs.
    ///
    /// Use it to skip a link, to call it twice, or to continue without it after an error:
    ///
    /// ```swift
    /// cache.around { request, inside, past in
    ///     do { return try await inside.load(request) } catch let error as HTTPError where error.code == .cacheBroken {
    ///         return try await past.load(request)
    ///     }
    /// }
    /// ```
    ///
    /// - Parameter body: responds to a request. `inside` is the link followed by the next loader, and `past` is the
    ///   next loader alone. If the closure throws an ``HTTPError``, the request fails with it. Any other error becomes
    ///   the underlying error of an ``HTTPError``.
    public func around(
        _ body:
            @escaping @Sendable (
                _ request: HTTPRequest, _ inside: any HTTPLoader, _ past: any HTTPLoader
            ) async throws -> HTTPResponse
    ) -> some LoaderLink {
        CompositeLink("Around", [(nil, self)]) { try await body($0, self --> $1, $1) }
    }
}

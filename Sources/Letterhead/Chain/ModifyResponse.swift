// SPDX-License-Identifier: MIT
/// Changes each request before the next loader receives it.
///
/// ```swift
/// ModifyRequest { $0.headers["X-Mark"] = "1" }
/// ```
///
/// To change one endpoint, use a modifier such as `.header(_:_:)` instead.
///
/// - The closure may be async. If it throws, the request fails with that error, and nothing is sent.
/// - Modify the request that the closure receives. If you assign a new request instead, it belongs to the same load but
///   has none of the options, such as the timeout.
/// - If the closure changes the host, redirects and cookies still depend on the host that the link received.
public struct ModifyRequest: LoaderLink {
    private let modify: @Sendable (inout HTTPRequest) async throws -> Void

    /// Creates a link from a closure that changes each request.
    public init(_ modify: @escaping @Sendable (inout HTTPRequest) async throws -> Void) { self.modify = modify }

    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        var modified = request
        try await request.withHTTPErrors { try await modify(&modified) }
        if modified.id != request.id {
            let own = modified.context
            modified.context = request.context
            modified.loadValues.replace(with: own.values)
            modified.homeOrigin = own.homeOrigin ?? request.homeOrigin
            modified.earlierSecrets.formUnion(request.pathSecrets)
        }
        var response = try await next.load(modified)
        if request.host != nil, modified.origin != request.origin, response.request.origin == modified.origin {
            response.returnToOrigin(of: request)
        }
        return response
    }
}

/// Changes responses, as a transformer or as a link.
///
/// ```swift
/// extension ModifyResponse {
///     /// Some servers label JSON as text.
///     static let jsonByName = ModifyResponse { response in
///         if response.headers["Content-Type"] == "text/json" { response.headers["Content-Type"] = "application/json" }
///     }
/// }
///
/// let client = HTTPClient(environment: .production, transformers: [.jsonByName])
/// let chain = ModifyResponse.jsonByName --> HTTPClient.defaultTransport
/// ```
///
/// - As a transformer, it changes the response that validators and the caller receive. Pass a list to a client, or to
///   one endpoint with ``RequestTemplate/transformed(by:)``.
/// - As a link, it changes every response at its position in the chain, including redirects and token responses.
///
/// To accept, reject or retry a response, write an ``HTTPValidator``.
///
/// Transformers run once for each attempt, on the response after all redirects. They run in order, first those of the
/// client. If a transformer throws, the request ends with that error: no later transformer or validator runs, and
/// nothing is retried.
///
/// The closure may be async and may throw. It isn't called after an error. Use ``result(_:)`` to handle errors as well.
/// The body of a streamed response hasn't been read yet: the closure may wrap it, but the caller doesn't receive bytes
/// that the closure reads.
public struct ModifyResponse: LoaderLink {
    private enum Change: Sendable {
        case response(@Sendable (inout HTTPResponse) async throws -> Void)
        case result(@Sendable (Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse)
    }

    private let change: Change

    /// Creates a link or a transformer from a closure. The closure finds the request in ``HTTPResponse/request``.
    public init(_ modify: @escaping @Sendable (inout HTTPResponse) async throws -> Void) { change = .response(modify) }

    /// Creates a link that changes the result of each request: a response or an error.
    ///
    /// ```swift
    /// ModifyResponse.result { result in
    ///     guard case .failure(let error) = result, error.code == .cannotConnect else { return try result.get() }
    ///     return HTTPResponse(request: error.request, status: 503)
    /// }
    /// ```
    ///
    /// The new result is the response that the closure returns, or the error that it throws. As a transformer, the
    /// closure receives only responses.
    public static func result(
        _ modify: @escaping @Sendable (Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse
    ) -> ModifyResponse {
        ModifyResponse(.result(modify))
    }

    private init(_ change: Change) { self.change = change }

    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard case .result(let modify) = change else {
            return try await changed(try await next.load(request), to: request)
        }
        let result = await next.result(of: request)
        return try await request.withHTTPErrors { try await modify(result) }
    }

    private func changed(_ response: HTTPResponse, to request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        var response = response
        do {
            try await transform(&response)
            return response
        } catch {
            throw HTTPError(error, request: request, response: await response.keptInMemory())
        }
    }

    /// Calls the closure with a response, for example in a test.
    ///
    /// - Throws: the errors of the closure, unchanged.
    public func transform(_ response: inout HTTPResponse) async throws {
        switch change {
        case .response(let modify): try await modify(&response)
        case .result(let modify): response = try await modify(.success(response))
        }
    }
}

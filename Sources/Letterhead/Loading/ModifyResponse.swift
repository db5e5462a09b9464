/// Changes responses: each one on its way up, as a link of a chain, or the one that ends an attempt, as a transformer.
///
/// ```swift
/// extension ModifyResponse {
///     /// Some servers write JSON and call it text.
///     static let jsonByName = ModifyResponse { response in
///         if response.headers["Content-Type"] == "text/json" { response.headers["Content-Type"] = "application/json" }
///     }
/// }
///
/// let client = HTTPClient(environment: .production, transformers: [.jsonByName])
/// let chain = ModifyResponse.jsonByName --> HTTPClient.defaultTransport
/// ```
///
/// Use it as a transformer to change what validators judge and the caller receives: give a list to a client, or to one
/// endpoint with ``RequestTemplate/transformed(by:)``. Transformers run in order, the client's first, once for each attempt,
/// on the response after all redirects. One that throws ends the load with its error: no later transformer runs, no
/// validator judges, and nothing is sent again. Use it as a link to change every response at its position in the chain,
/// those of redirects and of token endpoints too.
///
/// It is not called when there is no response; ``result(_:)`` is called then, too. The closure may be async and may throw, which
/// fails the load. It may change everything except which request was answered: a response to another request is
/// `.invalidResponse`. A streamed response has its body as it arrives: the closure may wrap it, and what it reads is gone.
public struct ModifyResponse: LoaderLink {
    private enum Change: Sendable {
        case response(@Sendable (inout HTTPResponse) async throws -> Void)
        case result(@Sendable (Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse)
    }

    private let change: Change

    /// Creates a link or a transformer.
    ///
    /// - Parameter modify: changes the response, which was sent for its ``HTTPResponse/request``.
    public init(_ modify: @escaping @Sendable (inout HTTPResponse) async throws -> Void) { change = .response(modify) }

    /// Creates a link that changes how each load ends.
    ///
    /// ```swift
    /// ModifyResponse.result { result in
    ///     guard case .failure(let error) = result, error.code == .cannotConnect else { return try result.get() }
    ///     return HTTPResponse(request: error.request, status: 503)
    /// }
    /// ```
    ///
    /// - Parameter modify: receives the response or the error; what it returns or throws is the result. A response to
    ///   another request, or the error of another request, is `.invalidResponse`. A transformer receives responses only.
    public static func result(
        _ modify: @escaping @Sendable (Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse
    ) -> ModifyResponse {
        ModifyResponse(.result(modify))
    }

    private init(_ change: Change) { self.change = change }

    /// Sends the request on, and changes what comes of it.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard case .result(let modify) = change else {
            return try await changed(try await next.load(request), to: request)
        }
        let result: Result<HTTPResponse, HTTPError>
        do throws(HTTPError) { result = .success(try await next.load(request)) } catch { result = .failure(error) }
        let response: HTTPResponse
        do {
            response = try await modify(result)
        } catch {
            let error = HTTPError(error, request: request)
            guard error.request.id == request.id else { throw .replacedError(error, for: request) }
            throw error
        }
        return try response.answering(request, by: "ModifyResponse")
    }

    private func changed(_ response: HTTPResponse, to request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        var response = response
        do {
            try await transform(&response)
        } catch {
            throw HTTPError(error, request: request, response: await response.keptInMemory())
        }
        return try response.answering(request, by: "ModifyResponse")
    }

    /// Changes a response.
    ///
    /// - Throws: what the closure throws.
    public func transform(_ response: inout HTTPResponse) async throws {
        switch change {
        case .response(let modify): try await modify(&response)
        case .result(let modify): response = try await modify(.success(response))
        }
    }
}

extension HTTPResponse {
    /// This response, if it answers a request.
    func answering(_ asked: HTTPRequest, by link: String) throws(HTTPError) -> HTTPResponse {
        if request.id == asked.id { return self }
        throw HTTPError(
            .invalidResponse, request: asked,
            message: "\(link) gave the response to another request; change the one that it is given")
    }
}

extension HTTPError {
    /// What becomes of the error of another request.
    fileprivate static func replacedError(_ error: HTTPError, for request: HTTPRequest) -> HTTPError {
        HTTPError(
            .invalidResponse, request: request, underlying: error,
            message: "ModifyResponse threw the error of another request; make one for the request that it is given")
    }
}

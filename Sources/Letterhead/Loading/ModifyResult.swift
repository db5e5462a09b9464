/// Changes how each load ends: it hears a response or an error, and what it returns or throws counts.
///
/// ```swift
/// ModifyResult { result in
///     guard case .failure(let error) = result, error.code == .cannotConnect else { return try result.get() }
///     return HTTPResponse(request: error.request, status: 503)
/// }
/// ```
///
/// A response to another request, or its error, is `.invalidResponse`.
public struct ModifyResult: LoaderLink {
    private let modify: @Sendable (Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse

    /// Makes the link.
    public init(_ modify: @escaping @Sendable (Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse) {
        self.modify = modify
    }

    /// Has the request answered, and changes the result.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let result: Result<HTTPResponse, HTTPError>
        do throws(HTTPError) { result = .success(try await next.load(request)) } catch { result = .failure(error) }
        let response: HTTPResponse
        do {
            response = try await modify(result)
        } catch {
            let error = HTTPError(error, request: request)
            guard error.request.id == request.id else { throw .replacedError(error, by: "ModifyResult", for: request) }
            throw error
        }
        return try response.answering(request, by: "ModifyResult")
    }
}

extension HTTPError {
    /// What becomes of the error of another request.
    fileprivate static func replacedError(_ error: HTTPError, by link: String, for request: HTTPRequest) -> HTTPError {
        HTTPError(
            .invalidResponse, request: request, underlying: error,
            message: "\(link) threw the error of another request; make one for the request that it is given")
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import HTTPTypes
public import Letterhead
import LetterheadHTTPTypes
public import OpenAPIRuntime

/// A loader over any transport of swift-openapi-runtime.
///
/// Use it if a transport that you have is the only way to the server, such as one over a message queue or a mock, and
/// you want the links of a client above it.
///
/// ```swift
/// let client = HTTPClient(environment: .production, transport: OpenAPILoader(transport))
/// ```
///
/// The transport receives the origin of the request as the base URL, and the method with the route as the operation
/// identifier. The loader enforces the timeout, the deadline and the response limit, as `HTTPTypesLoader` does.
///
/// An error from the transport becomes the underlying error of an `HTTPError`. Its code is `.unknown`, unless it is an
/// error from the URL loading in Foundation, so the default strategies don't retry it.
///
/// The transport protocol doesn't provide metrics, trailers, progress or an idle timeout, so they are missing. A
/// transport can't be reset. In a custom chain, put `Autocancel` above the loader, as a client does.
public struct OpenAPILoader: HTTPLoader {
    private let transport: any ClientTransport

    /// Creates a loader over a transport.
    public init(_ transport: any ClientTransport) { self.transport = transport }

    /// Sends a request over the transport.
    ///
    /// - Throws: the errors of `HTTPTypesLoader.load(_:)`.
    public func load(_ request: Letterhead.HTTPRequest) async throws(HTTPError) -> Letterhead.HTTPResponse {
        let operationID = "\(request.method) \(request.path.route ?? "")"
        let loader = HTTPTypesLoader { [transport] head, chunks in
            guard let server = request.origin.flatMap({ URL(string: $0.description) }) else {
                throw HTTPError(.invalidRequest, request: request, message: "the request's origin is not a URL")
            }
            let (response, body) = try await transport.send(
                head, body: OpenAPIRuntime.HTTPBody(chunks), baseURL: server, operationID: operationID)
            return HTTPTypesLoader.Reply(response, body: try HTTPResponseBody(body))
        }
        return try await loader.load(request)
    }
}

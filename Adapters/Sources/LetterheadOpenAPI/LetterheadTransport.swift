// SPDX-License-Identifier: MIT
public import Foundation
public import HTTPTypes
public import Letterhead
import LetterheadHTTPTypes
public import OpenAPIRuntime

/// Sends the requests of code that swift-openapi-generator has generated, over a client. The retries, sign-in, limits,
/// cookies, cache and observers of the client apply to each operation.
///
/// ```swift
/// let serverURL = try Servers.Server1.url()
/// let http = HTTPClient(
///     environment: ServerEnvironment(baseURL: serverURL), authentication: .bearer(token),
///     retrying: Backoff(.exponential, maximumRetries: 3))
/// let pets = Client(serverURL: serverURL, transport: LetterheadTransport(http))
/// ```
///
/// Pass the same URL to the generated client and to the environment: credentials and environment headers are sent only
/// to the origin of the environment.
///
/// - Every status reaches the generated code, which interprets it as the OpenAPI document declares. If the client
///   retries a status, it reaches the code only when no retry is left.
/// - The response body is streamed: the generated code reads it as it arrives. If the connection is lost in the middle
///   of the body, the operation isn't retried. For an operation with a small body, set `responseDelivery` to
///   `.buffered` in `configure`: the retry strategy then applies to the whole response. A truncated response is
///   `.invalidResponse`.
/// - If a request body has a known length of at most 64 KiB, it is read into memory before it is sent, so that it can
///   be retried and signed. A longer body, or one of unknown length, is streamed. If it can be iterated only once, it
///   is sent only once.
/// - The operation identifier becomes the route of the request, for metrics and logs.
/// - The client throws `HTTPError`. The generated code wraps it:
///   `(error as? ClientError)?.underlyingError as? HTTPError`.
public struct LetterheadTransport: ClientTransport {
    private static let memoryLimit = 64 << 10

    private let client: HTTPClient
    private let configure: @Sendable (inout Letterhead.HTTPRequest, String) -> Void

    /// Creates a transport over a client.
    ///
    /// - Parameters:
    ///   - client: sends the requests.
    ///   - configure: changes a request. It receives the operation identifier. Use it to mark a POST as idempotent, or
    ///     to set limits and the delivery. Default: changes nothing.
    public init(
        _ client: HTTPClient,
        configure: @escaping @Sendable (_ request: inout Letterhead.HTTPRequest, _ operationID: String) -> Void = {
            _, _ in
        }
    ) {
        (self.client, self.configure) = (client, configure)
    }

    /// Sends the request of an operation, and returns the response with any status.
    ///
    /// - Throws: the errors of `HTTPClient.send(_:)`: `HTTPError`, or `CancellationError`.
    public func send(
        _ request: HTTPTypes.HTTPRequest, body: OpenAPIRuntime.HTTPBody?, baseURL: URL, operationID: String
    ) async throws -> (HTTPTypes.HTTPResponse, OpenAPIRuntime.HTTPBody?) {
        var own = try Letterhead.HTTPRequest(request, below: baseURL, operationID: operationID)
        if let body { own.body = try await body.letterheadBody(inMemoryUpTo: Self.memoryLimit) }
        own.acceptedStatuses = .any
        own.responseDelivery = .streamed
        configure(&own, operationID)
        let isBuffered = own.responseDelivery == .buffered
        let response = isBuffered ? try await client.send(own) : try await client.stream(own)
        return (try HTTPTypes.HTTPResponse(response), OpenAPIRuntime.HTTPBody(response))
    }
}

extension Letterhead.HTTPRequest {
    /// Creates the request for a path below a server URL. If that URL has no host, the client environment adds it.
    ///
    /// - Throws: `.invalidRequest` for a request that a client doesn't send.
    fileprivate init(
        _ head: HTTPTypes.HTTPRequest, below server: URL, operationID: String
    ) throws(HTTPError) {
        var head = head
        (head.scheme, head.authority) = (nil, nil)
        try self.init(head)
        let base = Letterhead.HTTPRequest(url: server)
        if base.host != nil { (scheme, host, port, userInfo) = (base.scheme, base.host, base.port, base.userInfo) }
        var prefix = base.path.string
        if prefix.utf8.last == UInt8(ascii: "/") { prefix.removeLast() }
        path = RequestPath(escaped: prefix + path.string, route: operationID)
    }
}

// SPDX-License-Identifier: MIT
/// Responds to requests: a transport, a mock, or a whole chain. You can call ``load(_:)`` without a client.
///
/// ```swift
/// struct Canned: HTTPLoader {
///     func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
///         HTTPResponse(request: request, status: .ok)
///     }
/// }
/// ```
///
/// Write a loader for responses that don't come from the network. Use ``HTTPClient/defaultTransport`` for the network,
/// and write a ``LoaderLink`` for everything between a client and its loader.
///
/// Laws:
/// - A load ends with a response of any status or with an ``HTTPError``.
/// - If the task of a load is cancelled, the load ends immediately with ``HTTPError/Code/cancelled``.
/// - The request in a response has the same id as the request that was passed to the loader. It also has the same
///   scheme, host and port, unless they were missing or a redirect was followed.
/// - A loader retains nothing that belongs to a request after the request has ended.
/// - A transport calls ``HTTPRequest/validate()`` before it sends anything.
/// - A load that waits fails with ``HTTPError/Code/timedOut`` when ``HTTPRequest/timeLeft`` is used up.
public protocol HTTPLoader: Sendable {
    /// Returns the response to a request.
    ///
    /// - Throws: an ``HTTPError`` if the load fails. A status alone is never an error.
    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse

    /// Ends the requests in progress, discards stored state, and returns when both are done. Default: does nothing.
    func reset() async

    /// Whether the loader itself ends its requests in progress when their client is reset. Default: false.
    ///
    /// Return true if ``reset()`` ends each request with a ``HTTPRequest/generation`` that has ended, and the reading
    /// of its streamed body, with ``HTTPError/Code/cancelled``. If the property is false, a client that uses the loader
    /// as its transport adds ``Autocancel``, which cancels the tasks of these requests.
    var endsItsRequests: Bool { get }
}

extension HTTPLoader {
    /// Returns the response to a request, or the error. Use it in a link that treats both alike:
    ///
    /// ```swift
    /// let result = await next.result(of: request)
    /// logger.info("\(request): \(result)")
    /// return try result.get()
    /// ```
    @inline(__always)
    public func result(of request: HTTPRequest) async -> Result<HTTPResponse, HTTPError> {
        do throws(HTTPError) { return .success(try await load(request)) } catch { return .failure(error) }
    }

    public func reset() async {}

    public var endsItsRequests: Bool { false }
}

/// A loader that responds with a closure, or that erases the type of a loader.
///
/// ```swift
/// let offline = AnyLoader { request in throw HTTPError(.cannotConnect, request: request, message: "offline") }
/// ```
///
/// Use it for a loader with a few lines, as in a test or a preview.
public struct AnyLoader: HTTPLoader, CustomStringConvertible {
    private let answer: @Sendable (HTTPRequest) async throws(HTTPError) -> HTTPResponse
    private let wipe: @Sendable () async -> Void
    /// The description of the loader in a chain.
    public let description: String

    /// Erases the type of a loader. A reset is passed on to that loader.
    public init(_ loader: any HTTPLoader) {
        answer = { (request) async throws(HTTPError) in try await loader.load(request) }
        wipe = { await loader.reset() }
        description = "AnyLoader(\((loader as? any CustomStringConvertible)?.description ?? "\(type(of: loader))"))"
    }

    /// Creates a loader from a closure. An error of the closure that isn't an ``HTTPError`` becomes the underlying
    /// error of one. A reset does nothing.
    public init(_ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) {
        self.answer = { (request) async throws(HTTPError) in
            try await request.withHTTPErrors { try await answer(request) }
        }
        wipe = {}
        description = "AnyLoader"
    }

    public func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse { try await answer(request) }

    public func reset() async { await wipe() }
}

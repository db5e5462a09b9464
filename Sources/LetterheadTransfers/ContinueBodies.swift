// SPDX-License-Identifier: MIT
public import Letterhead

/// Continues a response body after a lost connection, so that its reader sees one uninterrupted body.
///
/// ```swift
/// let client = HTTPClient(environment: .production, links: ContinueBodies())
/// let response = try await client.addingLink(ContinueBodies()).stream(Export())   // or for one request
/// ```
///
/// Use it for large streams and downloads over unreliable connections. To continue a download after the program has
/// ended, use `download(_:to:resuming:)`, which continues bodies in the same way.
///
/// If the connection is lost in the middle of the body, the link requests the rest with `Range` and `If-Range`. If the
/// resource has changed, or the server sends anything else, reading the body throws `.invalidResponse`. The reader has
/// then already received the first bytes, so the link can't start again.
///
/// ## What is continued
///
/// - The request is a streamed or downloaded GET without a body, and has no signature that can be used only once, such
///   as a digest.
/// - The response is a 206, or a 200 with a known length. It has a strong `ETag`. If it has no tag at all, it has a
///   `Last-Modified` that is at least a minute before its `Date`.
/// - The body has no content coding. The link requests `identity`, unless the request sets `Accept-Encoding`.
/// - The server doesn't refuse ranges with `Accept-Ranges: none`.
///
/// All other bodies end at the lost connection, as they do without the link.
///
/// ## Where it belongs
///
/// Pass the link to a client in `links`, above `Retry`. Each request for the rest is then signed, redirected and
/// limited like the first request, and retried until its body begins.
///
/// - The `validators` of the client check the head of each response. In a download, they run before the file is
///   complete, so `HTTPResponse.savedFile` is nil for them.
/// - A deadline includes all continuations, and `RequestSettings.onProgress` counts the whole body.
/// - With the defaults, five consecutive attempts that bring nothing take up to 31 seconds of waits. The attempts of a
///   `Retry` link count as well, so the two numbers don't multiply. Each wait calls the `onRetry` closures of the
///   request and its client, and records a `retry.decided` event.
///
/// Downloads with `resuming:` and uploads continue in the same way. They also send their first request again if the
/// server is down or busy.
public struct ContinueBodies: LoaderLink {
    private let backoff: Backoff

    /// Creates a link.
    ///
    /// - Parameter backoff: the waits before the requests for the rest, and how many consecutive attempts may each
    ///   bring less than 64 KiB. Its clock also measures the deadline. A longer `Retry-After` takes precedence.
    ///   Default: exponential waits from one second with full jitter, at most 5 retries.
    public init(_ backoff: Backoff = Backoff()) { self.backoff = backoff }

    /// Sends the request, and returns a response with a body that continues.
    ///
    /// - Throws: `.invalidRequest` if a setting is invalid, and errors from the next loader. If no retries are left
    ///   later, reading the body throws the last error.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard request.responseDelivery != .buffered, request.method == .get, request.body.isEmpty,
            !request.isSignedOnce, !request[option: ContinuedOption.self]
        else { return try await next.load(request) }
        return try await backoff.loading(request) { request in
            let source = BodySource(request, over: next, backoff: backoff)
            var response = try await source.load()
            response.body = ContinuedBody(response, from: source).body(length: response.body.length)
            return try await response.delivered(to: request)
        }
    }
}

/// Marks a request whose body a link already continues. A second link below then does nothing, so that the attempts
/// don't multiply.
private enum ContinuedOption: HTTPRequestOption {
    static let defaultOptionValue = false
}

/// Sends the requests for one body: the first request, and the requests for the rest.
struct BodySource: Sendable {
    let request: HTTPRequest
    let backoff: Backoff
    /// Receives the progress for the whole body. The individual responses report none.
    let report: (@Sendable (HTTPRequest.Progress) -> Void)?
    private let next: any HTTPLoader

    init(_ request: HTTPRequest, over next: any HTTPLoader, backoff: Backoff) {
        var sent = request
        sent.responseDelivery = .streamed
        sent[option: ContinuedOption.self] = true
        if !sent.headers.contains(.acceptEncoding), !sent.omittedHeaders.contains(.acceptEncoding) {
            sent.headers[.acceptEncoding] = "identity"
        }
        report = sent.onProgress
        sent.onProgress = nil
        (self.request, self.next, self.backoff) = (sent, next, backoff)
    }

    /// Requests the body, or only a range of it if the validator still matches.
    func load(_ range: String? = nil, if validator: String = "") async throws(HTTPError) -> HTTPResponse {
        guard let range else { return try await next.load(request) }
        var sent = request
        sent.headers[.range] = range
        sent.headers[.ifRange] = validator
        do throws(HTTPError) { return try await next.load(sent) } catch {
            // A validator of the client may have refused the status.
            guard let response = error.response, response.status == .rangeNotSatisfiable else { throw error }
            return response
        }
    }
}

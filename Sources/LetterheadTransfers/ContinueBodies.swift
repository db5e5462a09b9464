// SPDX-License-Identifier: MIT
public import Letterhead

/// Continues a response's body if the connection breaks off, so that its reader sees one body. Use it for large streams
/// and downloads over connections that are lost now and then. To continue a download after the program has ended, use
/// `download(_:to:resuming:)`, which continues bodies in the same way.
///
/// ```swift
/// let client = HTTPClient(environment: .production, links: ContinueBodies())
/// let response = try await client.addingLink(ContinueBodies()).stream(Export())   // or for one request
/// ```
///
/// If the connection is lost in the middle of the body, the link requests the rest with `Range` and `If-Range`. It
/// joins only what certainly belongs together. It continues a body under these conditions:
///
/// - The request is a streamed or downloaded GET without a body, and not yet signed by a digest or the like.
/// - The response is a 206, or a 200 with a known length, and has a strong validator: a strong `ETag`, or without any
///   tag a `Last-Modified` that is at least a minute before its `Date`.
/// - The body has no content coding. The link requests `identity`, unless the request sets `Accept-Encoding`.
/// - The server doesn't refuse ranges with `Accept-Ranges: none`.
///
/// Any other body breaks off as without the link. If the resource has changed, or the server sends something else than
/// the rest, reading the body throws `.invalidResponse`, because its beginning has been read already.
///
/// Put the link into a client's `links`, above `Retry`. Each request for the rest is then signed, redirected and
/// limited like the first, and retried before its body begins. Validators judge each response's head. In a download,
/// they run before the file is complete, so `HTTPResponse.savedFile` is nil for them. A deadline includes all
/// continuations, and `RequestSettings.onProgress` counts the whole body.
///
/// Downloads with `resuming:` and uploads continue in the same way, and also send their first request again if the
/// server is down or busy. With the defaults, five attempts in succession that bring nothing take up to 31 seconds of
/// waits. The attempts of a `Retry` link count as well, so that both numbers don't multiply. Each wait calls the
/// `onRetry` closures of the request and its client, and records a `retry.decided` event.
public struct ContinueBodies: LoaderLink {
    private let backoff: Backoff

    /// - Parameter backoff: the waits before the requests for the rest, and how many consecutive attempts may bring less
    ///   than 64 KiB each. Its clock also measures the deadline. A longer `Retry-After` takes precedence. Default:
    ///   exponential waits from one second with full jitter, at most 5 retries.
    public init(_ backoff: Backoff = Backoff()) { self.backoff = backoff }

    /// - Throws: `.invalidRequest` if a setting is invalid, and the next loader's errors. When the retries are used up,
    ///   reading the body throws the last error.
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

/// Marks a request if another link continues its body, so that attempts don't multiply.
private enum ContinuedOption: HTTPRequestOption {
    static let defaultOptionValue = false
}

/// Sends the requests for one body: the first, and all requests for the rest.
struct BodySource: Sendable {
    let request: HTTPRequest
    let backoff: Backoff
    /// Receives the whole body's progress. The responses report none.
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

    /// Requests the body, or a range of it if the validator fits.
    func load(_ range: String? = nil, if validator: String = "") async throws(HTTPError) -> HTTPResponse {
        guard let range else { return try await next.load(request) }
        var sent = request
        sent.headers[.range] = range
        sent.headers[.ifRange] = validator
        do throws(HTTPError) { return try await next.load(sent) } catch {
            // A validator may have refused the status.
            guard let response = error.response, response.status == .rangeNotSatisfiable else { throw error }
            return response
        }
    }
}

/// Answers requests: a transport, a mock, or a whole chain.
///
/// Use: `HTTPClient` has one; `chain.load(request)` needs no client. Choose: `HTTPClient.defaultTransport` for the
/// network, a link in front of it for everything else. Write one when something other than the network answers:
///
/// ```swift
/// struct Canned: HTTPLoader {
///     func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
///         HTTPResponse(request: request, status: .ok)
///     }
/// }
/// ```
///
/// Laws: it answers once, with a response of any status or an ``HTTPError``; it ends at once, with
/// ``HTTPError/Code/cancelled``, when its task is cancelled; the response's request has the id of the request; nothing of
/// a load is kept when it is over; and a transport calls ``HTTPRequest/validate()`` before it sends.
public protocol HTTPLoader: Sendable {
    /// Answers a request.
    ///
    /// - Throws: an ``HTTPError`` when there is no response. A response with any status is a success here.
    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse

    /// Ends what is in flight, forgets what is kept, and returns when all of it is done. Default: does nothing.
    func reset() async
}

extension HTTPLoader {
    /// Nothing to reset.
    public func reset() async {}
}

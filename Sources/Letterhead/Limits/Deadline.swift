/// Limits how long whole loads may take.
///
/// ```swift
/// Deadline(.seconds(30))               // for requests that say nothing themselves
/// GetUser(login: "ada").deadline(in: .seconds(2))
/// ```
///
/// The limit becomes a point on the link's timeline, which travels down in the request. Nobody races against it: whoever
/// waits below, for a place in a queue, a back-off, a fresh token, a redirect, a connection or the next bytes of a body,
/// waits no longer than ``HTTPRequest/timeLeft``, and a wait that would pass the deadline fails at once. A link of your
/// own that waits does the same. Of two deadlines the earlier counts. The timeout of an attempt is apart.
public struct Deadline: LoaderLink {
    private let standard: Duration?
    private let timeline: Timeline

    /// Makes the link.
    ///
    /// - Parameters:
    ///   - standard: for requests without a deadline of their own. Default: nil, no limit.
    ///   - clock: the time. Default: the continuous clock.
    public init(_ standard: Duration? = nil, clock: any Clock<Duration> = ContinuousClock()) {
        self.standard = standard
        timeline = Timeline(clock)
    }

    /// Sets the deadline, and has the request answered.
    ///
    /// - Throws: `.timedOut` when it passed, saying in which phase; `.invalidRequest` when it is zero or less.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let isSet = request.options.contains(DeadlineOption.self)
        guard let limit = isSet ? request.deadline : standard else { return try await next.load(request) }
        guard limit > .zero else {
            throw HTTPError(.invalidRequest, request: request, message: "the deadline is zero or less; nil is no limit")
        }
        var limited = request
        limited.limit(to: limit, on: timeline)
        return try await next.load(limited).within(limited)
    }
}

extension HTTPResponse {
    /// A body that is still arriving is given out until the deadline of its request.
    fileprivate func within(_ request: HTTPRequest) -> HTTPResponse {
        guard body.buffered == nil else { return self }
        var response = self
        response.body = body.passing { next in
            if let left = request.timeLeft, left <= .zero { throw request.deadlinePassed(while: "reading the body") }
            return try await next()
        }
        return response
    }
}

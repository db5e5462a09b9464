/// A link that prints each request and each result, and changes nothing. As an observer of a client, it prints each load.
///
/// ```
/// --> GET https://api.example.com/users?page=2
///     Accept: application/json
/// <-- 200 OK, 345 bytes, in 12.3 ms
/// ```
///
/// Secrets are redacted, as described in ``Redaction``. The level determines whether headers and bodies are printed.
/// Use the link during development. To send the output elsewhere, pass `write`.
///
/// As an observer, it prints a line for each load after the load has ended, or a waterfall of the phases of the load:
///
/// ```swift
/// let client = HTTPClient(environment: .production, observers: [PrintLoader(.waterfall)])
/// ```
///
/// In the `links` of an ``HTTPClient``, the link prints the URL as completed by the client's environment. If the last
/// requested URL differs from the URL in the line of the request, the line of the response contains it. This happens
/// after a redirect, and in a custom chain in which the link is before ``ApplyEnvironment``.
public struct PrintLoader: LoaderLink {
    /// The amount of detail that is printed.
    public enum Level: Sendable, Comparable {
        /// One line for each request and each result.
        case line
        /// Also the headers of requests.
        case headers
        /// Also the headers of responses, and the first 512 bytes of bodies that are in memory.
        case bodies
        /// As an observer, the phases of each load as a waterfall; as a link, the same as ``headers``.
        case waterfall
    }

    let write: @Sendable (String) -> Void
    let level: Level
    let collector = EventCollector()
    private let clock: any Clock<Duration>

    /// Creates the link.
    ///
    /// - Parameters:
    ///   - level: the amount of detail that is printed. Default: ``Level/headers``.
    ///   - clock: measures the duration of a request. Default: the continuous clock.
    ///   - write: called with the output for each request, each result or each observed load, without a line break at
    ///     the end. Default: `print`.
    public init(
        _ level: Level = .headers, clock: any Clock<Duration> = ContinuousClock(),
        write: (@Sendable (String) -> Void)? = nil
    ) {
        self.level = level
        self.clock = clock
        self.write = write ?? { print($0) }
    }

    /// Prints the request, calls the next loader, and prints the result.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        write(lines(of: request))
        let elapsed = stopwatch(clock)
        let result = await next.result(of: request)
        switch result {
        case .success(let response):
            let length = response.body.length.map { "\($0) bytes" } ?? "a streamed body"
            let place = request.redaction.url(of: response.request)
            let origin = place == request.redaction.url(of: request) ? "" : " from \(place)"
            write("<-- \(response.status)\(origin), \(length), in \(elapsed().milliseconds)" + lines(of: response))
        case .failure(let error): write("<-- \(error), after \(elapsed().milliseconds)")
        }
        return try result.get()
    }

    private func lines(of request: HTTPRequest) -> String {
        let line = "--> " + request.redaction.requestLine(of: request)
        guard level > .line else { return line }
        let text = line + fields(request.headers, request)
        return level == .bodies ? text + indented(request.redaction.body(of: request)) : text
    }

    /// Returns the headers and the body of a response; an empty string for any level except `bodies`.
    private func lines(of response: HTTPResponse) -> String {
        guard level == .bodies else { return "" }
        return fields(response.headers, response.request)
            + indented(response.request.redaction.body(of: response))
    }

    private func indented(_ body: String) -> String { body.isEmpty ? "" : "\n\n    " + body }

    private func fields(_ headers: HTTPHeaders, _ request: HTTPRequest) -> String {
        headers.map { "\n    " + request.redaction.text(of: $0) }.joined()
    }
}

/// Returns a closure that returns the time since this call, on any clock.
private func stopwatch<Time: Clock<Duration>>(_ clock: Time) -> () -> Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
}

extension PrintLoader: HTTPObserver {
    /// Prints the load when it has ended.
    public func record(_ event: HTTPEvent) {
        // The pieces of a body are counted at its end.
        guard event.name != .bodyPiece, let events = collector.add(event), let last = events.last else { return }
        let timeline = HTTPTimeline(events)
        let attempts = last.attempt > 1 ? ", \(last.attempt) attempts" : ""
        write(level == .waterfall ? timeline.text() : timeline.title + attempts)
    }
}

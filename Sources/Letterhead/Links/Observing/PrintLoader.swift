// SPDX-License-Identifier: MIT
/// Print what a client sends and receives during development, as a link or as an observer. Secrets are redacted
/// (``Redaction``).
///
/// ```
/// --> GET https://api.example.com/users?page=2
///     Accept: application/json
/// <-- 200 OK, 345 bytes, in 12.3 ms
/// ```
///
/// An observer prints a line for each load after it has ended, or a waterfall of its phases:
///
/// ```swift
/// let client = HTTPClient(environment: .production, observers: [PrintLoader(.waterfall)])
/// ```
///
/// In the `links` of an ``HTTPClient``, the link prints the URL as completed by the client's environment. The line of
/// the response contains the last requested URL if it differs: after a redirect, or in a custom chain in which the link
/// is before ``ApplyEnvironment``.
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

    /// `write` receives the text of each request, result or observed load, without a line break at the end.
    public init(
        _ level: Level = .headers, clock: any Clock<Duration> = ContinuousClock(),
        write: (@Sendable (String) -> Void)? = nil
    ) {
        self.level = level
        self.clock = clock
        self.write = write ?? { print($0) }
    }

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

    /// Empty for any level except `bodies`.
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

private func stopwatch<Time: Clock<Duration>>(_ clock: Time) -> () -> Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
}

extension PrintLoader: HTTPObserver {
    public func record(_ event: HTTPEvent) {
        // The pieces of a body are counted at its end.
        guard event.name != .bodyPiece, let events = collector.add(event), let last = events.last else { return }
        let timeline = HTTPTimeline(events)
        let attempts = last.attempt > 1 ? ", \(last.attempt) attempts" : ""
        write(level == .waterfall ? timeline.text() : timeline.title + attempts)
    }
}

// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// Prints what a client sends and receives during development, as a link or as an observer. Secrets are redacted
/// (``Redaction``).
///
/// ```swift
/// let client = HTTPClient(environment: .production, links: PrintLoader())
/// ```
///
/// It prints the request and the result:
///
/// ```
/// --> GET https://api.example.com/users?page=2
///     Accept: application/json
/// <-- 200 OK, 345 bytes, in 12.3 ms
/// ```
///
/// Among the `links` of an ``HTTPClient``, it prints each request once, with the URL that the client environment
/// completes. If the last requested URL differs, for example after a redirect, the line for the response contains it.
/// In `attemptLinks`, it prints each attempt and each hop.
///
/// As an observer, it prints one line for each load after the load has ended. `PrintTimeline` of the product
/// `LetterheadObserving` prints the phases of a load as a waterfall.
public struct PrintLoader: LoaderLink {
    /// How much detail is printed.
    public enum Level: Sendable, Comparable {
        /// One line for each request and each result.
        case line
        /// Also the headers of requests.
        case headers
        /// Also the headers of responses, and the first 512 bytes of bodies that are in memory.
        case bodies
        /// JSON on one line, for a log collector. As an observer: an object for each load after it has ended. As a
        /// link: an object for each request and each result.
        case json
    }

    let write: @Sendable (String) -> Void
    let level: Level
    let collector = EventCollector()
    private let clock: any Clock<Duration>

    /// Creates a link, which is also an observer.
    ///
    /// - Parameters:
    ///   - level: how much detail is printed. Default: ``Level/headers``.
    ///   - clock: measures the durations. Default: the continuous clock.
    ///   - write: receives the text of each request, result or observed load, without a line break at the end. Default:
    ///     nil (`print`).
    public init(
        _ level: Level = .headers, clock: any Clock<Duration> = ContinuousClock(),
        write: (@Sendable (String) -> Void)? = nil
    ) {
        self.level = level
        self.clock = clock
        self.write = write ?? { print($0) }
    }

    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        write(level == .json ? Self.json(of: request) : lines(of: request))
        let timeline = Timeline(clock)
        let result = await next.result(of: request)
        switch result {
        case _ where level == .json: write(Self.json(of: result, for: request, in: timeline.now))
        case .success(let response):
            let length = response.body.length.map { "\($0) bytes" } ?? "a streamed body"
            let place = request.redaction.url(of: response.request)
            let origin = place == request.redaction.url(of: request) ? "" : " from \(place)"
            write("<-- \(response.status)\(origin), \(length), in \(timeline.now.milliseconds)" + lines(of: response))
        case .failure(let error): write("<-- \(error), after \(timeline.now.milliseconds)")
        }
        return try result.get()
    }

    private func lines(of request: HTTPRequest) -> String {
        let line = "--> " + request.redaction.requestLine(of: request)
        guard level > .line else { return line }
        let text = line + fields(request.headers, request)
        return level == .bodies ? text + indented(request.redaction.body(of: request)) : text
    }

    /// Returns the headers and the body of a response. Empty unless the level is `bodies`.
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

extension PrintLoader: HTTPObserver {
    public func record(_ event: HTTPEvent) {
        // The pieces of a body are counted at its end.
        guard event.name != .bodyPiece, let events = collector.add(event), let last = events.last else { return }
        if level == .json { return write(Self.json(of: events)) }
        write(HTTPEvent.line(of: events) + (last.attempt > 1 ? ", \(last.attempt) attempts" : ""))
    }
}

/// Creates the texts of ``PrintLoader/Level/json``, with the names and units of the facts in an ``HTTPEvent``. Times
/// are in milliseconds.
extension PrintLoader {
    static func json(of request: HTTPRequest) -> String {
        line([
            "event": "request", "method": .string(request.method.printable),
            "url": .string(request.redaction.url(of: request)),
        ])
    }

    static func json(
        of result: Result<HTTPResponse, HTTPError>, for request: HTTPRequest, in duration: Duration
    ) -> String {
        var members: [String: JSONValue] = [
            "method": .string(request.method.printable), "duration.ms": .double(duration / .milliseconds(1)),
        ]
        switch result {
        case .success(let response):
            members["event"] = "response"
            members["url"] = .string(request.redaction.url(of: response.request))
            members["status"] = .int(Int64(response.status.code))
            members["bytes"] = response.body.length.map { .int(Int64($0)) }
        case .failure(let error):
            members["event"] = "failure"
            members["url"] = .string(request.redaction.url(of: error.request))
            members["status"] = error.response.map { .int(Int64($0.status.code)) }
            members["error.type"] = .string(error.code.rawValue)
            members["error"] = .string("\(error)")
        }
        return line(members)
    }

    /// Returns the facts of the first and the last event of a load.
    static func json(of events: [HTTPEvent]) -> String {
        guard let first = events.first, let last = events.last else { return line([:]) }
        var members: [String: JSONValue] = [
            "event": .string(last.name.rawValue), "load": .int(Int64(last.load)), "attempts": .int(Int64(last.attempt)),
        ]
        members["template"] = last.template.map { .string($0) }
        members["route"] = last.route.map { .string($0) }
        for fact in first.facts + last.facts {
            switch fact.value {
            case let duration as Duration: members[fact.name + ".ms"] = .double(duration / .milliseconds(1))
            case let number as Int: members[fact.name] = .int(Int64(number))
            case let number as Double: members[fact.name] = .double(number)
            case let isTrue as Bool: members[fact.name] = .bool(isTrue)
            case let list as [String]: members[fact.name] = .array(list.map { .string($0) })
            default: members[fact.name] = .string("\(fact.value)")
            }
        }
        return line(members)
    }

    private static func line(_ members: [String: JSONValue]) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(members)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}

/// Writes a line for each request and each result that passes, and changes nothing.
///
/// ```
/// --> GET https://api.example.com/users?page=2
///     Accept: application/json
/// <-- 200 OK, 345 bytes, in 12.3 ms
/// ```
///
/// Secrets are redacted, as ``Redaction`` describes; bodies are not written. Use it to see what happens while you write a
/// program, and pass `write` to send the lines elsewhere.
///
/// In the `links` of an ``HTTPClient`` it writes the URL that the client's environment completes. In a chain of your own,
/// above ``ApplyEnvironment`` or ``FollowRedirects``, the line of the response names the URL that was requested last when the
/// line of the request does not.
public struct PrintLoader: LoaderLink {
    private let write: @Sendable (String) -> Void
    private let clock: any Clock<Duration>

    /// Makes the link.
    ///
    /// - Parameters:
    ///   - clock: measures how long a load takes. Default: the continuous clock.
    ///   - write: takes each text, without a line break at its end. Default: `print`.
    public init(
        clock: any Clock<Duration> = ContinuousClock(), write: @escaping @Sendable (String) -> Void = { print($0) }
    ) {
        self.clock = clock
        self.write = write
    }

    /// Writes the request, has it answered, and writes the result.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        write(lines(of: request))
        let elapsed = stopwatch(clock)
        do {
            let response = try await next.load(request)
            let length = response.body.length.map { "\($0) bytes" } ?? "a streamed body"
            let place = request.redaction.url(of: response.request)
            let origin = place == request.redaction.url(of: request) ? "" : " from \(place)"
            write("<-- \(response.status)\(origin), \(length), in \(milliseconds(elapsed()))")
            return response
        } catch {
            write("<-- \(error), after \(milliseconds(elapsed()))")
            throw error
        }
    }

    private func lines(of request: HTTPRequest) -> String {
        let fields = request.headers.map { "\n    " + request.redaction.text(of: $0) }
        let shown = request.shown
        return "--> \(shown.method.shown) \(request.redaction.url(of: shown))" + fields.joined()
    }

    private func milliseconds(_ duration: Duration) -> String {
        let tenths = Int(duration / .microseconds(100))
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}

/// Tells how long it is since the call, on a clock of any kind.
private func stopwatch<Time: Clock<Duration>>(_ clock: Time) -> () -> Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
}

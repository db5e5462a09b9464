/// A link that prints each request and each result, and changes nothing.
///
/// ```
/// --> GET https://api.example.com/users?page=2
///     Accept: application/json
/// <-- 200 OK, 345 bytes, in 12.3 ms
/// ```
///
/// Secrets are redacted, as described in ``Redaction``. Bodies are not printed. Use it during development, and pass
/// `write` to send the lines elsewhere.
///
/// In the `links` of an ``HTTPClient`` it prints the URL that the client's environment completes. In a custom chain,
/// before ``ApplyEnvironment`` or ``FollowRedirects``, the line of the response contains the last requested URL if it
/// differs from the URL in the line of the request.
public struct PrintLoader: LoaderLink {
    private let write: @Sendable (String) -> Void
    private let clock: any Clock<Duration>

    /// Creates the link.
    ///
    /// - Parameters:
    ///   - clock: measures the duration of a request. Default: the continuous clock.
    ///   - write: receives each text, without a line break at its end. Default: `print`.
    public init(
        clock: any Clock<Duration> = ContinuousClock(), write: @escaping @Sendable (String) -> Void = { print($0) }
    ) {
        self.clock = clock
        self.write = write
    }

    /// Prints the request, calls the next loader, and prints the result.
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

/// Returns a closure that returns the time since this call, on any clock.
private func stopwatch<Time: Clock<Duration>>(_ clock: Time) -> () -> Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
}

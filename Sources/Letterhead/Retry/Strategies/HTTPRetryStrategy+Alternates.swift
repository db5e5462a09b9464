extension HTTPRetryStrategy {
    /// Sends another request, then waits, and then retries the original.
    ///
    /// ```swift
    /// .after(
    ///     { original in original.origin == api ? HTTPRequest(method: .post, url: tokenURL) : nil },
    ///     onResponse: { original, answer in
    ///         let token = try JSONDecoder().decode(Token.self, from: try await answer.body.data())
    ///         original.headers.setSecret("Bearer \(token.value)", for: .authorization)
    ///     })
    /// ```
    ///
    /// The other request passes through the links below the retry. Validators do not receive its response, which may
    /// have any status. The other request is not retried and does not count as an attempt. Its errors are passed to
    /// `onError` and not to the caller; the original is then retried unchanged.
    ///
    /// - Parameters:
    ///   - request: creates the other request from the original. If it returns nil, no other request is sent, and the
    ///     original is retried after the wait.
    ///   - delay: the wait after the other request. Default: zero; a negative wait counts as zero.
    ///   - sharing: determines which loads share one request. Default: nil (each load sends a separate request).
    ///   - onResponse: receives the response, and may change the original for its next attempts. With `sharing`, it runs once
    ///     for each load that waited, with the original of that load.
    ///   - onError: receives an error of the request or of another closure. Default: does nothing.
    public static func after(
        _ request: @escaping @Sendable (_ original: HTTPRequest) async throws -> HTTPRequest?,
        delay: Duration = .zero, sharing: Sharing? = nil,
        onResponse: @escaping @Sendable (_ original: inout HTTPRequest, _ answer: HTTPResponse) async throws -> Void,
        onError: @escaping @Sendable (any Error) async -> Void = { _ in }
    ) -> HTTPRetryStrategy {
        HTTPRetryStrategy(
            "after another request",
            alternate: .request(
                RetryAlternateRequest(make: request, onResponse: onResponse, onError: onError, sharing: sharing))
        ) { _, _ in Wait(duration: delay, jitter: .none) }
    }

    /// Runs a task, then waits, and then retries the original.
    ///
    /// - Parameters:
    ///   - delay: the wait after the task. Default: zero; a negative wait counts as zero.
    ///   - task: may change the original for its next attempts.
    ///   - onError: receives the error of the task; the original is then retried unchanged. Default: does nothing.
    public static func afterTask(
        delay: Duration = .zero, task: @escaping @Sendable (inout HTTPRequest) async throws -> Void,
        onError: @escaping @Sendable (any Error) async -> Void = { _ in }
    ) -> HTTPRetryStrategy {
        HTTPRetryStrategy("after a task", alternate: .task(task, onError: onError)) { _, _ in
            Wait(duration: delay, jitter: .none)
        }
    }
}

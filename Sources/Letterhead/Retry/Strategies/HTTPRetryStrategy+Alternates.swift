extension HTTPRetryStrategy {
    /// After another request: it is sent first, then comes the wait, then the original again.
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
    /// The other request goes through the links below the retry. Validators do not see it, it is never retried and not
    /// counted, and its response may have any status. Whatever goes wrong with it reaches `onError` and not the caller:
    /// the original is sent again all the same, unchanged.
    ///
    /// - Parameters:
    ///   - request: makes it of the original; with nil the original is sent again at once.
    ///   - delay: the wait behind it. Default: zero; a negative one is zero.
    ///   - sharing: which loads send one together. Default: nil, each sends its own.
    ///   - onResponse: hears the response, and may change the original for its next attempts; its identity stays. With
    ///     `sharing` it runs once for each load that waited, with that load's own original.
    ///   - onError: hears an error of the request, or one that another closure threw. Default: nobody does.
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

    /// After a task: it runs first, then comes the wait, then the original again.
    ///
    /// - Parameters:
    ///   - delay: the wait behind it. Default: zero; a negative one is zero.
    ///   - task: may change the original for its next attempts; its identity stays.
    ///   - onError: hears what the task throws; the original is then sent again unchanged. Default: nobody does.
    public static func afterTask(
        delay: Duration = .zero, task: @escaping @Sendable (inout HTTPRequest) async throws -> Void,
        onError: @escaping @Sendable (any Error) async -> Void = { _ in }
    ) -> HTTPRetryStrategy {
        HTTPRetryStrategy("after a task", alternate: .task(task, onError: onError)) { _, _ in
            Wait(duration: delay, jitter: .none)
        }
    }
}

// SPDX-License-Identifier: MIT
extension TestClock {
    /// Moves the clock from one sleep to the next until no task sleeps on it.
    ///
    /// ```swift
    /// async let user = client.send(GetUser(login: "ada").retry(5))
    /// await clock.runUntilIdle()         // all waits of the retries pass
    /// _ = try await user
    /// ```
    ///
    /// Before each step, running tasks have time to reach their next sleep. The clock can't observe work that doesn't
    /// sleep on it, such as work in a socket, so this method may return before such work is done. In this case, use
    /// ``run(_:)``, which returns only when the operation ends. This method also returns when its task is cancelled.
    public func runUntilIdle() async {
        while !Task.isCancelled {
            await settle()
            guard advanceToNextSleeper() else { return }
        }
    }

    /// Runs an operation, and moves the clock from one sleep to the next until the operation ends.
    ///
    /// ```swift
    /// let user = try await clock.run { try await client.send(GetUser(login: "ada").retry(5)) }
    /// ```
    ///
    /// - Returns: the operation's value.
    /// - Throws: the operation's error.
    public func run<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await operation() }
            group.addTask {
                await self.runUntilCancelled()
                return nil
            }
            defer { group.cancelAll() }
            while let value = try await group.next() {
                if let value { return value }
            }
            throw CancellationError()
        }
    }

    /// Moves the clock from one sleep to the next until the calling task is cancelled.
    package func runUntilCancelled() async {
        while !Task.isCancelled {
            await waitForSleepers(1)
            await settle()
            if !Task.isCancelled { advanceToNextSleeper() }
        }
    }

    /// Lets running tasks continue until no sleep has begun or ended for five real milliseconds, and every woken task
    /// runs. Returns the activity since when it is quiet.
    ///
    /// - Parameter isAsleep: whether the calling task still waits. Default: it does.
    ///
    /// No API reports whether other tasks can run, so waiting in real time is the only way to let them continue.
    @discardableResult
    func settle(while isAsleep: () -> Bool = { true }) async -> Int {
        var quiet = 0
        var seen = activity
        while quiet < 5, !Task.isCancelled, isAsleep() {
            for _ in 0..<10 { await Task.yield() }
            try? await Task.sleep(for: .milliseconds(1))
            let now = activity
            quiet = now == seen && !hasWokenSleepers ? quiet + 1 : 0
            seen = now
        }
        return seen
    }
}

// SPDX-License-Identifier: MIT
import Synchronization

/// Cancels the requests in progress when the chain is reset.
///
/// ```swift
/// let chain = ResetGuard() --> Autocancel() --> customLink --> HTTPClient.defaultTransport
/// ```
///
/// Use it in a custom chain with code that can't end itself: a custom link, a custom loader, or a closure that waits.
/// The links and transports of the library end their requests without it, so a client adds it only if it has
/// `attemptLinks` or a custom transport.
///
/// - A reset cancels the tasks of all requests, and waits until each request has ended with `.cancelled`. It then
///   resets the next loader. The tasks of the callers aren't cancelled.
/// - A streamed body belongs to its request until it has been read or dropped. Reading it after a reset throws
///   `.cancelled`.
/// - A request that starts during the reset fails with `.resetInProgress`.
/// - Put the link after ``ResetGuard``, so that a second reset joins the first.
/// - In a client, the link is directly above the `attemptLinks`. A validator may therefore reset its client: the
///   attempt that it judges has left this link already, so the reset doesn't wait for it.
public final class Autocancel: LoaderLink {
    private struct Running {
        var isCancelled = false
        /// Cancels the task of the request, or its streamed body.
        var cancel: @Sendable () -> Void
        let ended = OneShot<Void>()
    }

    private struct State {
        var resets = 0
        var last = 0
        var running: [Int: Running] = [:]
    }

    private let state = Mutex(State())

    /// Creates a link for one chain. A reset cancels all requests in the link, so don't use it in a second chain.
    public init() {}

    /// The number of requests in progress, including those with bodies that are still being read.
    public var running: Int { state.withLock { $0.running.count } }

    /// Calls the next loader in a task that a reset can cancel.
    ///
    /// - Throws: `.resetInProgress` if this link is being reset. Nothing is sent.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let task = try state.withLock { state throws(HTTPError) in
            if let cancellation = request.cancellation(mayHaveBeenSent: false) { throw cancellation }
            guard state.resets == 0 else { throw .resetInProgress(request) }
            state.last += 1
            let number = state.last
            let task = Task { await result(of: request, next: next, number) }
            state.running[number] = Running { task.cancel() }
            return task
        }
        return try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }.get()
    }

    /// Cancels the requests in progress, waits until they have ended, and resets the next loader.
    ///
    /// A request may await the reset that cancels it, because the wait ends when the calling task is cancelled. It must
    /// not await the reset in a different task.
    public func reset(next: any HTTPLoader) async {
        let running = state.withLock { state in
            state.resets += 1
            for number in state.running.keys { state.running[number]?.isCancelled = true }
            return Array(state.running.values)
        }
        for request in running { request.cancel() }
        let ended = OneShot<Void>()
        Task {
            for request in running { await request.ended.value }
            ended.set(())
        }
        await withTaskCancellationHandler {
            await ended.value
        } onCancel: {
            ended.set(())
        }
        await next.reset()
        state.withLock { $0.resets -= 1 }
    }

    private func result(
        of request: HTTPRequest, next: any HTTPLoader, _ number: Int
    ) async -> Result<HTTPResponse, HTTPError> {
        do throws(HTTPError) {
            let response = try await next.load(request)
            // A response that arrives during a reset belongs to the previous user.
            guard hold(response, number) else { throw response.request.resetError("the chain was reset") }
            return .success(response)
        } catch {
            let isReset = remove(number)
            guard isReset || Task.isCancelled && error.code != .cancelled else { return .failure(error) }
            return .failure(
                HTTPError(
                    .cancelled, request: error.request, underlying: error.code == .cancelled ? nil : error,
                    message: error.request.canceller(isTask: !isReset), mayHaveBeenSent: error.mayHaveBeenSent))
        }
    }

    /// Ends a request that has a response: at once, or when its streamed body ends. Returns false if a reset has
    /// cancelled the request.
    private func hold(_ response: HTTPResponse, _ number: Int) -> Bool {
        let request = response.request
        let cancelBody = response.body.canceller(
            throwing: request.resetError("the chain was reset while the body was read"))
        let isCancelled = state.withLock { state in
            state.running[number]?.cancel = cancelBody
            return state.running[number]?.isCancelled ?? true
        }
        if isCancelled { return false }
        response.body.onEnd { [self] _ in remove(number) }
        return true
    }

    @discardableResult
    private func remove(_ number: Int) -> Bool {
        let removed = state.withLock { $0.running.removeValue(forKey: number) }
        removed?.ended.set(())
        return removed?.isCancelled ?? false
    }
}

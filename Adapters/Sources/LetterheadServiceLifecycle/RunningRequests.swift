// SPDX-License-Identifier: MIT
import Letterhead
import Synchronization

/// Counts the requests of a client, and refuses new ones once it is closed. The service and the client chain share it.
final class RunningRequests: LoaderLink {
    private struct State {
        var count = 0
        var isClosed = false
        var isCancelled = false
    }

    private let state = Mutex(State())
    private let running = Autocancel()
    private let ended = AsyncStream<Never>.makeStream()
    private let signalled = AsyncStream<Never>.makeStream()

    /// Counts a request until it has failed, or its response has been read.
    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let isRefused = state.withLock { state in
            if !state.isClosed { state.count += 1 }
            return state.isClosed
        }
        if isRefused {
            throw HTTPError(
                .shuttingDown, request: request, message: "the program is shutting down", mayHaveBeenSent: false)
        }
        do throws(HTTPError) {
            let loader = AnyLoader { [self] request in
                // The cancellation may have come before the `Autocancel` link knew of the request.
                if state.withLock({ $0.isCancelled }) {
                    throw HTTPError(
                        .cancelled, request: request, message: "the program is shutting down", mayHaveBeenSent: false)
                }
                return try await next.load(request)
            }
            let response = try await running.load(request, next: loader)
            response.body.onEnd { [self] _ in remove() }
            return response
        } catch {
            remove()
            throw error
        }
    }

    func beginShutdown() { signalled.continuation.finish() }

    /// Waits until ``beginShutdown()``, or until the task is cancelled.
    func waitForSignal() async { for await _ in signalled.stream {} }

    /// Refuses requests from now on.
    func close() {
        let isIdle = state.withLock { state in
            state.isClosed = true
            return state.count == 0
        }
        if isIdle { ended.continuation.finish() }
    }

    /// Waits until no request is running after ``close()``, or until the task is cancelled.
    func end() async { for await _ in ended.stream {} }

    /// Cancels the running requests. Unlike a client reset, it keeps tokens, cookies and caches.
    func cancel() async {
        state.withLock { $0.isCancelled = true }
        await running.reset(next: AnyLoader { HTTPResponse(request: $0, status: .ok) })
    }

    private func remove() {
        let isLast = state.withLock { state in
            state.count -= 1
            return state.isClosed && state.count == 0
        }
        if isLast { ended.continuation.finish() }
    }
}

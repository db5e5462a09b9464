import Synchronization

/// Cancels what is in flight when the chain is reset.
///
/// A reset cancels every load that runs, waits until each has ended with `.cancelled`, and then resets what is below. A
/// streamed body belongs to its load until it was read or dropped: whoever still reads it gets `.cancelled`. The callers'
/// own tasks are not cancelled. Put it behind ``ResetGuard``, so that nothing new begins meanwhile.
public final class Autocancel: LoaderLink {
    // A class, because it keeps the loads that run.

    /// Owned by the load that made it, which awaits it and cancels it when its own task is cancelled.
    private typealias Load = Task<Result<HTTPResponse, HTTPError>, Never>

    private struct State {
        var lastNumber: UInt64 = 0
        var loads: [UInt64: Load] = [:]
        var bodies: [UInt64: TrackedBody] = [:]
    }

    private let state = Mutex(State())

    /// Makes the link.
    public init() {}

    /// How many loads run now, those among them whose bodies are still being read.
    public var running: Int { state.withLock { $0.loads.count + $0.bodies.count } }

    /// Has the request answered, in a task that a reset can cancel.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let load = state.withLock { state in
            state.lastNumber += 1
            let load = begin(state.lastNumber, request, next: next)
            state.loads[state.lastNumber] = load
            return load
        }
        let result = await withTaskCancellationHandler {
            await load.value
        } onCancel: {
            load.cancel()
        }
        return try result.get()
    }

    /// Cancels what runs, waits until it has ended, and resets what is below.
    public func reset(next: any HTTPLoader) async {
        let loads = state.withLock { Array($0.loads.values) }
        for load in loads { load.cancel() }
        for load in loads { _ = await load.value }
        let bodies = state.withLock { Array($0.bodies.values) }
        await withTaskGroup(of: Void.self) { group in
            for body in bodies { group.addTask { await body.cancel() } }
        }
        await next.reset()
    }

    private func begin(_ number: UInt64, _ request: HTTPRequest, next: any HTTPLoader) -> Load {
        Task {
            defer { state.withLock { $0.loads[number] = nil } }
            do throws(HTTPError) {
                return .success(track(number, try await next.load(request)))
            } catch {
                guard Task.isCancelled, error.code != .cancelled else { return .failure(error) }
                return .failure(HTTPError(.cancelled, request: error.request, underlying: error))
            }
        }
    }

    /// A body that is still arriving is kept, too, so that a reset can end it.
    private func track(_ number: UInt64, _ response: HTTPResponse) -> HTTPResponse {
        guard response.body.buffered == nil else { return response }
        let body = TrackedBody(response.body, of: response.request) { [self] in
            _ = state.withLock { $0.bodies.removeValue(forKey: number) }
        }
        state.withLock { $0.bodies[number] = body }
        var response = response
        response.body = body.body(length: response.body.length)
        return response
    }
}

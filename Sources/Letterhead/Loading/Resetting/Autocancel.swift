import Synchronization

/// A link that cancels the requests in progress when the chain is reset.
///
/// A reset cancels every request in progress, waits until each has ended with `.cancelled`, and then resets the next
/// loader. A streamed body belongs to its request until it has been read or dropped; reading it after a reset throws
/// `.cancelled`. The tasks of the callers are not cancelled. A request that starts during the reset fails with
/// `.resetInProgress`. Put the link after ``ResetGuard``, with which a second reset joins the first.
public final class Autocancel: LoaderLink {
    // A class, because it stores the requests in progress.

    private struct State {
        var resets = 0
        var loads = Slots<OwnedWork>()
        var bodies: [ObjectIdentifier: TrackedBody] = [:]
    }

    private let state = Mutex(State())
    /// Decides for the chain below whether a request needs a separate task; nil if each request needs one.
    private let below: CancellableChain?

    /// Creates the link.
    public init() { below = nil }

    /// Creates the link for one chain. A request needs no separate task if no custom link, custom loader or async
    /// closure runs for it in the chain below.
    init(above next: any HTTPLoader) { below = CancellableChain(next) }

    /// The number of requests in progress, including those whose bodies are still being read.
    public var running: Int { state.withLock { $0.loads.count + $0.bodies.count } }

    /// Calls the next loader so that a reset can cancel it.
    ///
    /// - Throws: `.resetInProgress` if this link is being reset. Nothing is sent.
    @inline(__always)
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        if Task.isCancelled { throw HTTPError(.cancelled, request: request, mayHaveBeenSent: false) }
        let lease = ResourceLedger.lease("a task that loads \(request.outline)")
        defer { lease?.release() }
        let isDirect = below?.isCancelledFromOutside(request) ?? false
        let work = OwnedWork(isDirect: isDirect)
        let slot = state.withLock { $0.resets == 0 ? $0.loads.insert(work) : nil }
        guard let slot else { throw .resetInProgress(request) }
        let result =
            if isDirect {
                await work.run { await self.result(of: request, next: next, work, slot) }
            } else {
                await work.runInTask { await self.result(of: request, next: next, work, slot) }
            }
        return try result.get()
    }

    /// Cancels the requests in progress, waits until they have ended, and resets the next loader.
    ///
    /// A request that itself awaits the reset is cancelled, too, but not awaited.
    public func reset(next: any HTTPLoader) async {
        let loads = state.withLock { state in
            state.resets += 1
            return state.loads.all
        }
        for load in loads { load.cancel() }
        for load in loads { await load.ended() }
        let bodies = state.withLock { Array($0.bodies.values) }
        await withTaskGroup(of: Void.self) { group in
            for body in bodies { group.addTask { await body.cancel() } }
        }
        await next.reset()
        state.withLock { $0.resets -= 1 }
    }

    private func result(
        of request: HTTPRequest, next: any HTTPLoader, _ work: OwnedWork, _ slot: Int
    ) async -> Result<HTTPResponse, HTTPError> {
        do throws(HTTPError) {
            var response = try await next.load(request)
            // A response that arrives during a reset belongs to the previous user.
            if work.isCancelled { throw HTTPError(.cancelled, request: response.request) }
            let body = track(response)
            remove(slot, keeping: body)
            if let body { response.body = body.body(length: response.body.length) }
            return .success(response)
        } catch {
            remove(slot, keeping: nil)
            guard work.isCancelled || Task.isCancelled, error.code != .cancelled else { return .failure(error) }
            return .failure(HTTPError(.cancelled, request: error.request, underlying: error))
        }
    }

    private func remove(_ slot: Int, keeping body: TrackedBody?) {
        state.withLock { state in
            state.loads.remove(at: slot)
            if let body { state.bodies[ObjectIdentifier(body)] = body }
        }
    }

    /// Returns a streamed body that a reset can end; nil if the body is in memory.
    private func track(_ response: HTTPResponse) -> TrackedBody? {
        guard response.body.buffered == nil else { return nil }
        return TrackedBody(response.body, of: response.request) { [self] body in
            _ = state.withLock { $0.bodies.removeValue(forKey: ObjectIdentifier(body)) }
        }
    }
}

/// Values at indices that do not change. The index of a removed value is reused.
private struct Slots<Value> {
    private var values: [Value?] = []
    private var free: [Int] = []

    var count: Int { values.count - free.count }
    var all: [Value] { values.compactMap { $0 } }

    mutating func insert(_ value: Value) -> Int {
        guard let index = free.popLast() else {
            values.append(value)
            return values.count - 1
        }
        values[index] = value
        return index
    }

    mutating func remove(at index: Int) {
        values[index] = nil
        free.append(index)
    }
}

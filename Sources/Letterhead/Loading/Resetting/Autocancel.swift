import Synchronization

/// Cancels what is in flight when the chain is reset.
///
/// A reset cancels every load that runs, waits until each has ended with `.cancelled`, and then resets what is below. A
/// streamed body belongs to its load until it was read or dropped: whoever still reads it gets `.cancelled`. The callers'
/// own tasks are not cancelled, and a load that comes meanwhile is `.resetInProgress`. Put it behind ``ResetGuard``, which
/// lets a second reset join the first.
public final class Autocancel: LoaderLink {
    // A class, because it keeps the loads that run.

    private struct State {
        var resets = 0
        /// One of the loads, apart from the others: as long as it is the only one, nobody looks it up by a hash.
        private var first: OwnedLoad?
        private var others: [ObjectIdentifier: OwnedLoad] = [:]
        var bodies: [ObjectIdentifier: TrackedBody] = [:]

        var loads: [OwnedLoad] { [first].compactMap { $0 } + others.values }
        var running: Int { (first == nil ? 0 : 1) + others.count + bodies.count }

        mutating func add(_ load: OwnedLoad) {
            if first == nil { first = load } else { others[ObjectIdentifier(load)] = load }
        }

        mutating func remove(_ load: OwnedLoad) {
            if first === load { first = nil } else { others[ObjectIdentifier(load)] = nil }
        }
    }

    private let state = Mutex(State())

    /// Makes the link.
    public init() {}

    /// How many loads run now, those among them whose bodies are still being read.
    public var running: Int { state.withLock { $0.running } }

    /// Has the request answered, in a task that a reset can cancel.
    ///
    /// - Throws: `.resetInProgress` when it comes while a reset is at work here; nothing is sent.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        if Task.isCancelled { throw HTTPError(.cancelled, request: request, mayHaveBeenSent: false) }
        let load = OwnedLoad(request, next: next, owner: self)
        let isKept = state.withLock { state in
            if state.resets == 0 { state.add(load) }
            return state.resets == 0
        }
        guard isKept else { throw .resetInProgress(request) }
        load.start()
        if let result = load.takeResult() { return try result.get() }
        await withTaskCancellationHandler {
            await load.ended()
        } onCancel: {
            load.cancel()
        }
        guard let result = load.takeResult() else { throw HTTPError(.cancelled, request: request) }
        return try result.get()
    }

    /// Cancels what runs, waits until it has ended, and resets what is below.
    ///
    /// A load that itself awaits the reset is cancelled, too, and not waited for.
    public func reset(next: any HTTPLoader) async {
        let loads = state.withLock { state in
            state.resets += 1
            return state.loads
        }
        let others = loads.filter { !$0.cancelsCaller() }
        for load in others { await load.ended() }
        let bodies = state.withLock { Array($0.bodies.values) }
        await withTaskGroup(of: Void.self) { group in
            for body in bodies { group.addTask { await body.cancel() } }
        }
        await next.reset()
        state.withLock { $0.resets -= 1 }
    }
}

extension Autocancel: LoadOwner {
    func end(_ load: OwnedLoad, with result: Result<HTTPResponse, HTTPError>) -> Result<HTTPResponse, HTTPError>? {
        switch result {
        case .success(var response):
            let body = track(response)
            remove(load, keeping: body)
            guard let body else { return result }
            response.body = body.body(length: response.body.length)
            return .success(response)
        case .failure(let error):
            remove(load, keeping: nil)
            guard Task.isCancelled, error.code != .cancelled else { return result }
            return .failure(HTTPError(.cancelled, request: error.request, underlying: error))
        }
    }

    private func remove(_ load: OwnedLoad, keeping body: TrackedBody?) {
        state.withLock { state in
            state.remove(load)
            if let body { state.bodies[ObjectIdentifier(body)] = body }
        }
    }

    /// A body that is still arriving is kept when its load has ended, so that a reset can end it.
    private func track(_ response: HTTPResponse) -> TrackedBody? {
        guard response.body.buffered == nil else { return nil }
        return TrackedBody(response.body, of: response.request) { [self] body in
            _ = state.withLock { $0.bodies.removeValue(forKey: ObjectIdentifier(body)) }
        }
    }
}

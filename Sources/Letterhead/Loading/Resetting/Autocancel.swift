import Synchronization

/// A link that cancels the requests in progress when the chain is reset.
///
/// A reset cancels every request in progress, waits until each has ended with `.cancelled`, and then resets the next
/// loader. A streamed body belongs to its request until it has been read or dropped; reading it after a reset throws
/// `.cancelled`. The tasks of the callers are not cancelled. A request that starts during the reset is
/// `.resetInProgress`. Put the link after ``ResetGuard``, with which a second reset joins the first.
public final class Autocancel: LoaderLink {
    // A class, because it stores the requests in progress.

    private struct State {
        var resets = 0
        /// One of the requests, stored separately: a single request needs no lookup by a hash.
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

    /// Creates the link.
    public init() {}

    /// The number of requests in progress, including those whose bodies are still being read.
    public var running: Int { state.withLock { $0.running } }

    /// Calls the next loader in a task that a reset can cancel.
    ///
    /// - Throws: `.resetInProgress` if this link is being reset. Nothing is sent.
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

    /// Cancels the requests in progress, waits until they have ended, and resets the next loader.
    ///
    /// A request that itself awaits the reset is cancelled, too, but not awaited.
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

    /// Keeps a streamed body after its request has ended, so that a reset can end it.
    private func track(_ response: HTTPResponse) -> TrackedBody? {
        guard response.body.buffered == nil else { return nil }
        return TrackedBody(response.body, of: response.request) { [self] body in
            _ = state.withLock { $0.bodies.removeValue(forKey: ObjectIdentifier(body)) }
        }
    }
}

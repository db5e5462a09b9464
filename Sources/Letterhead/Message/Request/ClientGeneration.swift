import Synchronization

/// The identity of a client, which its copies share. It is an object, so that no later client has the same identity.
final class ClientIdentity: Hashable, Sendable {
    fileprivate typealias Sleep = Task<Void, any Error>

    fileprivate struct Sleeps {
        var last = 0
        var running: [Int: Sleep] = [:]
    }

    fileprivate let number = Atomic(0)
    fileprivate let sleeps = Mutex(Sleeps())

    /// The generation to which new requests belong.
    var generation: ClientGeneration { ClientGeneration(client: self, number: number.load(ordering: .acquiring)) }

    static func == (left: ClientIdentity, right: ClientIdentity) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// Ends the generation, and with it all pauses. A reset calls it before it ends anything else, so that whatever
    /// sees a request later can refuse it.
    func endGeneration() {
        number.wrappingAdd(1, ordering: .sequentiallyConsistent)
        let running = sleeps.withLock { sleeps in
            defer { sleeps.running = [:] }
            return sleeps.running.values
        }
        for sleep in running { sleep.cancel() }
    }
}

/// What a client does between two resets. Whatever belongs to an earlier generation is ended and stored nowhere.
struct ClientGeneration: Hashable, Sendable {
    let client: ClientIdentity
    fileprivate let number: Int

    /// Whether the client has been reset since.
    var hasEnded: Bool { client.number.load(ordering: .acquiring) != number }

    /// Pauses for a duration, or until the generation ends.
    ///
    /// - Throws: `CancellationError` if the calling task was cancelled.
    func pause(for duration: Duration, on clock: any Clock<Duration>) async throws {
        let sleep = ClientIdentity.Sleep { try await clock.pause(for: duration) }
        let place = client.sleeps.withLock { sleeps -> Int? in
            guard !hasEnded else { return nil }
            sleeps.last += 1
            sleeps.running[sleeps.last] = sleep
            return sleeps.last
        }
        if place == nil { sleep.cancel() }
        _ = await withTaskCancellationHandler {
            await sleep.result
        } onCancel: {
            sleep.cancel()
        }
        if let place { _ = client.sleeps.withLock { $0.running.removeValue(forKey: place) } }
        try Task.checkCancellation()
    }
}

extension HTTPRequest {
    /// Whether the client of the request was reset after the request began; false without a client.
    var wasReset: Bool { context.generation?.hasEnded ?? false }

    /// Whether a reset of a part of the chain ends the request: its client was reset, or it has no client.
    var endsAtReset: Bool { context.generation?.hasEnded ?? true }

    /// The error of a request whose client was reset.
    func resetError(_ message: String = "the client was reset", mayHaveBeenSent: Bool = true) -> HTTPError {
        HTTPError(.cancelled, request: self, message: message, mayHaveBeenSent: mayHaveBeenSent)
    }

    /// Pauses for a duration.
    ///
    /// - Throws: `.cancelled` if the client is reset or the calling task is cancelled.
    func pause(for duration: Duration, on clock: any Clock<Duration>) async throws(HTTPError) {
        do {
            guard let generation = context.generation else { return try await clock.pause(for: duration) }
            try await generation.pause(for: duration, on: clock)
        } catch {
            throw HTTPError(error, request: self)
        }
        if wasReset { throw resetError() }
    }
}

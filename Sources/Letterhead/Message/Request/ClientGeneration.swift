// SPDX-License-Identifier: MIT
import Synchronization

/// A client identity, which all copies share. It is an object, so that no later client has the same identity.
final class ClientIdentity: Hashable, Sendable {
    fileprivate struct Held {
        var last = 0
        var cancellers: [Int: @Sendable () -> Void] = [:]
    }

    fileprivate let number = Atomic(0)
    /// The closures that a reset calls to end pauses and streamed bodies.
    fileprivate let held = Mutex(Held())

    var generation: ClientGeneration { ClientGeneration(client: self, number: number.load(ordering: .acquiring)) }

    static func == (left: ClientIdentity, right: ClientIdentity) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// Ends the generation, and with it all pauses and streamed bodies. A reset calls it first, so that later code can
    /// refuse requests that began in this generation.
    func endGeneration() {
        let cancellers = held.withLock { held in
            number.wrappingAdd(1, ordering: .sequentiallyConsistent)
            return exchange(&held.cancellers, with: [:])
        }
        for cancel in cancellers.values { cancel() }
    }
}

/// The time between two resets of a client. A reset ends all requests of the previous generation, and nothing from
/// their responses is stored afterwards.
///
/// ``ResetGuard`` ends the generation and then resets the chain. Afterwards, these rules hold for a request of an
/// earlier generation:
///
/// - A transport doesn't start a transfer for it.
/// - A link stores nothing for later requests, because it stores state only in ``HTTPRequest/unlessReset(_:)``.
/// - The client discards its result and throws `.cancelled`.
public struct ClientGeneration: Hashable, Sendable {
    let client: ClientIdentity
    fileprivate let number: Int

    /// A reference to a client generation that doesn't keep the client alive.
    struct Reference {
        private weak var client: ClientIdentity?
        private let number: Int

        init(_ generation: ClientGeneration) { (client, number) = (generation.client, generation.number) }

        /// Whether the client exists and hasn't been reset.
        var isCurrent: Bool { client.map { !ClientGeneration(client: $0, number: number).hasEnded } ?? false }
    }

    /// Whether the client has been reset since the generation began.
    public var hasEnded: Bool { client.number.load(ordering: .acquiring) != number }

    /// Calls a closure when the generation ends, or at once if it has ended.
    ///
    /// - Returns: a closure that removes `cancel`.
    func onEnd(_ cancel: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let place = client.held.withLock { held -> Int? in
            guard !hasEnded else { return nil }
            held.last += 1
            held.cancellers[held.last] = cancel
            return held.last
        }
        guard let place else {
            cancel()
            return {}
        }
        // Release the closure outside the lock.
        return { [client] in _ = client.held.withLock { $0.cancellers.removeValue(forKey: place) } }
    }

    /// Pauses for a duration, or until the generation ends. With zero, it only checks both conditions.
    ///
    /// - Throws: `CancellationError` if the calling task was cancelled, or else `error` if the generation has ended.
    func pause(
        for duration: Duration, on clock: any Clock<Duration>, orThrow error: @autoclosure () throws -> HTTPError
    ) async throws {
        if duration > .zero {
            let sleep = Task { try await clock.pause(for: duration) }
            let remove = onEnd { sleep.cancel() }
            _ = await withTaskCancellationHandler {
                await sleep.result
            } onCancel: {
                sleep.cancel()
            }
            remove()
        }
        try Task.checkCancellation()
        if hasEnded { throw try error() }
    }
}

extension HTTPRequest {
    /// The generation of the client that sends the request, or nil without a client.
    ///
    /// A link that waits, or that stores something for later requests, compares it: see ``pause(for:on:)`` and
    /// ``unlessReset(_:)``.
    public var generation: ClientGeneration? { context.generation }

    /// Whether the client was reset after the request began, or false without a client.
    var wasReset: Bool { context.generation?.hasEnded ?? false }

    /// Returns whether resetting a part of the chain ends the request.
    ///
    /// - Parameter withoutClient: the result for a request without a client. Default: true.
    func endsAtReset(withoutClient: Bool = true) -> Bool { context.generation?.hasEnded ?? withoutClient }

    /// Runs a closure that stores something for later requests, unless the client was reset since the request began.
    ///
    /// Call it in a link, under the lock that protects the stored state. Either the reset comes first and the closure
    /// isn't called, or the reset removes what the closure has stored.
    ///
    /// - Returns: nil if the client was reset.
    public func unlessReset<Value>(_ store: () throws -> Value) rethrows -> Value? { wasReset ? nil : try store() }

    /// The error to throw if the client was reset or the calling task was cancelled. Otherwise nil.
    func cancellation(mayHaveBeenSent: Bool = true) -> HTTPError? {
        if wasReset { return resetError(mayHaveBeenSent: mayHaveBeenSent) }
        return Task.isCancelled ? HTTPError(.cancelled, request: self, mayHaveBeenSent: mayHaveBeenSent) : nil
    }

    func resetError(_ message: String = "the client was reset", mayHaveBeenSent: Bool = true) -> HTTPError {
        HTTPError(.cancelled, request: self, message: message, mayHaveBeenSent: mayHaveBeenSent)
    }

    /// What cancelled the request: its client, its task, or else a part of its chain.
    func canceller(isTask: Bool = Task.isCancelled) -> String {
        wasReset ? "the client was reset" : isTask ? "the task was cancelled" : "the chain was reset"
    }

    /// Waits on behalf of the request. Use it in your own link, so that resetting the client ends the wait. Compare the
    /// duration with ``timeLeft`` before.
    ///
    /// - Throws: `.cancelled` if the client is reset or the calling task is cancelled.
    public func pause(for duration: Duration, on clock: any Clock<Duration>) async throws(HTTPError) {
        do {
            guard let generation = context.generation else { return try await clock.pause(for: duration) }
            try await generation.pause(for: duration, on: clock, orThrow: resetError())
        } catch {
            // A reset may have cancelled the task as well.
            throw cancellation() ?? HTTPError(error, request: self)
        }
    }
}

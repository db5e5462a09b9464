// SPDX-License-Identifier: MIT
import Letterhead

/// Runs an operation, and throws an error if a resource of a client outlives it.
///
/// ```swift
/// @Test func `nothing is left behind`() async throws {
///     try await withLeakCheck {
///         let client = HTTPClient(environment: environment, transport: HTTPClient.makeTransport(.init()))
///         _ = try await client.send(GetUser(login: "ada"))
///     }
/// }
/// ```
///
/// The check finds these resources if they were created in the operation or in its tasks, except in a `Task.detached`:
///
/// - a task that still loads a request;
/// - a streamed body that was neither read to its end nor released, and therefore occupies a connection;
/// - a slot of a `Throttle` that was not returned;
/// - the hidden file of a download that was neither accepted nor removed;
/// - a transport of `HTTPClient.makeTransport` that was not released, and therefore keeps its idle connections open.
///
/// The shared `HTTPClient.defaultTransport` is not a leak. Do not return a client or a response from the operation,
/// because its resources would not be released yet.
///
/// - Parameters:
///   - grace: the longest real time for which the check waits until the resources are released, because tasks end
///     asynchronously. Default: 1 second.
///   - operation: the code to check.
/// - Returns: the value of the operation.
/// - Throws: ``ResourceLeaks``, which names each resource and its owner; the error of the operation.
public func withLeakCheck<Value>(
    grace: Duration = .seconds(1), _ operation: () async throws -> Value
) async throws -> Value {
    let ledger = LeakLedger()
    LeakLedger.use()
    let value = try await LeakLedger.$current.withValue(ledger, operation: operation)
    _ = await ledger.state.value(within: grace) { $0.resources.isEmpty }
    let resources = ledger.resources
    if resources.isEmpty { return value }
    try Task.checkCancellation()
    throw ResourceLeaks(resources: resources)
}

/// The error of ``withLeakCheck(grace:_:)``.
public struct ResourceLeaks: Error, Sendable, CustomStringConvertible {
    /// The resources that outlived the operation, each with its owner.
    public let resources: [String]

    /// One line for each resource.
    public var description: String { resources.map { "leaked: \($0)" }.joined(separator: "\n") }
}

/// The resources that one check counts. The resources and the check share it.
private final class LeakLedger: Sendable {
    @TaskLocal static var current: LeakLedger?

    struct State {
        var last = 0
        var resources: [Int: String] = [:]
    }

    let state = Watched(State())

    /// The resources that have not been released, in the order of their creation.
    var resources: [String] { state.value.resources.sorted { $0.key < $1.key }.map(\.value) }

    /// Lets the resources of the process register with the check of the task that creates them.
    static func use() { ResourceLedger.use { current?.register($0()) } }

    private func register(_ resource: String) -> @Sendable () -> Void {
        let number = state.change { state in
            state.last += 1
            state.resources[state.last] = resource
            return state.last
        }
        return { [self] in state.change { $0.resources[number] = nil } }
    }
}

// SPDX-License-Identifier: MIT
import Letterhead
import Synchronization

/// Runs an operation, and throws an error if it leaves a client resource in use.
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
/// The check finds these resources:
///
/// - a task that still loads a request
/// - a streamed body that was neither read to its end nor released, and therefore occupies a connection
/// - a `Throttle` slot that was not returned
/// - a hidden download file that was neither accepted nor removed
/// - a transport from `HTTPClient.makeTransport` that was not released, and therefore keeps its idle connections open
///
/// The check finds a resource only if it was created in the operation or in tasks that the operation has created,
/// except with `Task.detached`.
///
/// The shared `HTTPClient.defaultTransport` isn't a leak. Don't return a client or a response from the operation: it
/// would keep its resources, and the check would fail.
///
/// - Parameters:
///   - grace: how long the check waits in real time for resources to be released, because tasks end asynchronously.
///     Default: 1 second.
///   - operation: the code to check.
/// - Returns: what the operation returns.
/// - Throws: ``ResourceLeaks``, which names each resource and its owner, or what the operation throws.
public func withLeakCheck<Value>(
    grace: Duration = .seconds(1), _ operation: () async throws -> Value
) async throws -> Value {
    let ledger = LeakLedger()
    ResourceLedger.use { LeakLedger.current?.register($0()) }
    let value = try await LeakLedger.$current.withValue(ledger, operation: operation)
    _ = await ledger.resources.value(within: grace) { $0.isEmpty }
    let resources = ledger.resources.value.sorted { $0.key < $1.key }.map(\.value)
    if resources.isEmpty { return value }
    try Task.checkCancellation()
    throw ResourceLeaks(resources: resources)
}

/// The error that ``withLeakCheck(grace:_:)`` throws.
public struct ResourceLeaks: Error, Sendable, CustomStringConvertible {
    /// The resources that are still in use, each with its owner.
    public let resources: [String]

    /// One line for each resource.
    public var description: String { resources.map { "leaked: \($0)" }.joined(separator: "\n") }
}

/// The resources that one check counts. The check shares this object with the resources.
private final class LeakLedger: Sendable {
    @TaskLocal static var current: LeakLedger?

    /// The resources in use, numbered in the order of their creation.
    let resources = Watched<[Int: String]>([:])
    private let last = Atomic(0)

    func register(_ resource: String) -> @Sendable () -> Void {
        let number = last.add(1, ordering: .relaxed).newValue
        resources.change { $0[number] = resource }
        return { [self] in resources.change { $0[number] = nil } }
    }
}

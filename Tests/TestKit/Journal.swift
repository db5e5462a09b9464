// SPDX-License-Identifier: MIT
package import Letterhead
import Synchronization

/// An event that happens once, and the tasks that wait for it.
package final class CredentialBell: Sendable {
    private let stream = AsyncStream.makeStream(of: Void.self)
    package init() {}
    package func ring() { stream.continuation.finish() }
    package func wait() async { for await _ in stream.stream {} }
}

/// The error that a load throws, or nil when it throws none.
package func failure<Value>(of load: () async throws -> Value) async -> HTTPError? {
    do {
        _ = try await load()
        return nil
    } catch {
        return error as? HTTPError
    }
}

/// What happened, in order. A class, because closures share it.
package final class Journal: Sendable {
    private let lines = Mutex<[String]>([])

    package init() {}

    package func write(_ line: String) { lines.withLock { $0.append(line) } }

    package var all: [String] { lines.withLock { $0 } }
}

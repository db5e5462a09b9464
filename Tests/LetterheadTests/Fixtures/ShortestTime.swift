// SPDX-License-Identifier: MIT
import Letterhead

/// The shortest of several durations, because the machine may be busy. It stops at the first one below the limit.
func shortestTime(
    below limit: Duration, of tries: Int = 3, _ measure: () async throws -> Duration
) async rethrows -> Duration {
    var shortest = Duration.never
    for _ in 0..<tries where shortest >= limit { shortest = min(shortest, try await measure()) }
    return shortest
}

/// How long something takes.
func elapsed(_ body: () async throws -> Void) async rethrows -> Duration {
    let start = ContinuousClock.now
    try await body()
    return start.duration(to: .now)
}

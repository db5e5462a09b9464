// SPDX-License-Identifier: MIT
import Foundation

/// The processor's time that this thread used for some work, in seconds, so that other tests and programs do not count.
package func threadTime(_ work: () throws -> Void) rethrows -> Double {
    func seconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
    let start = seconds()
    try work()
    return seconds() - start
}

/// How many times as long some work takes for four times the input: about 4 where the time is linear, 16 where it is
/// quadratic. The best of a few rounds, since a machine may be busy.
package func growth(of size: Int, _ work: (_ size: Int) throws -> Void) rethrows -> Double {
    func cost(_ size: Int) throws -> Double { try (0..<3).map { _ in try threadTime { try work(size) } }.min() ?? 0 }
    var best = Double.infinity
    for _ in 0..<8 where best > 8 { best = min(best, try cost(4 * size) / max(try cost(size), 0.000_05)) }
    return best
}

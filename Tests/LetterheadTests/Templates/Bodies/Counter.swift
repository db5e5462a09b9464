// SPDX-License-Identifier: MIT
import Synchronization

/// Counts calls. A class, because the closures that count share it.
final class Counter: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    @discardableResult func next() -> Int {
        count.withLock {
            $0 += 1
            return $0
        }
    }
}

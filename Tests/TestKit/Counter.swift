// SPDX-License-Identifier: MIT
import Synchronization

/// Counts calls. A class, because the closures that count share it.
package final class Counter: Sendable {
    private let count = Mutex(0)

    package init() {}

    package var value: Int { count.withLock { $0 } }

    @discardableResult package func next() -> Int {
        count.withLock {
            $0 += 1
            return $0
        }
    }
}

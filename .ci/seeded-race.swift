// A data race on purpose: two threads add to one number without a lock, for a while, so that both are there at the same
// time. The sanitizer must report this program.
import Foundation

nonisolated(unsafe) var number = 0

let threads = (0..<2).map { _ in
    Thread {
        for _ in 0..<100 {
            number += 1
            Thread.sleep(forTimeInterval: 0.002)
        }
    }
}
threads.forEach { $0.start() }
while threads.contains(where: { !$0.isFinished }) { Thread.sleep(forTimeInterval: 0.01) }
print("ended with \(number)")

// SPDX-License-Identifier: MIT
#if os(Linux)
    package import Dispatch
    import Foundation

    extension DispatchSemaphore {
        /// Waits up to a minute for a signal. Returns false if there was none.
        ///
        /// A separate thread waits, because the threads of Dispatch also run tasks.
        package func isSignaled() async -> Bool {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(returning: self.wait(timeout: .now() + 60) == .success)
                }
            }
        }
    }
#endif

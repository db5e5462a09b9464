#if os(Linux)
    package import Dispatch

    extension DispatchSemaphore {
        /// Waits up to a minute for a signal, without blocking a thread of the tasks. Returns false if there was none.
        package func isSignaled() async -> Bool {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    continuation.resume(returning: self.wait(timeout: .now() + 60) == .success)
                }
            }
        }
    }
#endif

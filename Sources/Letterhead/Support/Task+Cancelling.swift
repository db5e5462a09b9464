extension Task {
    /// Cancels it; true when whoever asks is the task itself or a child of it, and would wait for itself.
    package func cancelsCaller() -> Bool {
        let wasCancelled = Task<Never, Never>.isCancelled
        cancel()
        if Task<Never, Never>.isCancelled, !wasCancelled { return true }
        return withUnsafeCurrentTask { $0?.hashValue } == hashValue
    }
}

extension RequestTemplate {
    /// Limits how many bytes a buffered response may have, counted when its content coding is undone; one more is
    /// `.responseTooLarge`. Default without it: 64 MiB.
    public func responseLimit(_ bytes: Int) -> WithOption<Self, ResponseLimitOption> {
        option(ResponseLimitOption.self, bytes)
    }

    /// Adds a closure that is called while the bodies of the request and of its response move; see
    /// ``HTTPRequest/onProgress``. Closures are called in the order written.
    public func onProgress(
        _ report: @escaping @Sendable (TransferProgress) -> Void
    ) -> WithOption<Self, TransferProgressOption> {
        guard let earlier = options[TransferProgressOption.self] else {
            return option(TransferProgressOption.self, report)
        }
        return option(TransferProgressOption.self) { progress in
            earlier(progress)
            report(progress)
        }
    }
}

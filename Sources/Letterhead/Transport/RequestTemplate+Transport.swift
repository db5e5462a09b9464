extension RequestTemplate {
    /// Limits how many bytes a buffered response may have, counted when its content coding is undone; one more is
    /// `.responseTooLarge`. Default without it: 64 MiB.
    public func responseLimit(_ bytes: Int) -> WithOption<Self, ResponseLimitOption> {
        option(ResponseLimitOption.self, bytes)
    }

    /// Calls a closure while the bodies of the request and of its response move; see ``HTTPRequest/onProgress``.
    public func onProgress(
        _ report: @escaping @Sendable (TransferProgress) -> Void
    ) -> WithOption<Self, TransferProgressOption> {
        option(TransferProgressOption.self, report)
    }
}

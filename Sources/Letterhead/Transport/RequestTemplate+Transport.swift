extension RequestTemplate {
    /// Limits how many bytes the body of the response may have, buffered, streamed or downloaded, counted after its content
    /// codings are undone. One more is `.responseTooLarge`. Default: see ``HTTPRequest/responseLimit``.
    public func responseLimit(_ bytes: Int) -> WithOptions<Self> {
        option(ResponseLimitOption.self, bytes)
    }

    /// Adds a closure that is called while the bodies of the request and of its response move; see
    /// ``HTTPRequest/onProgress``. Closures are called in the order written.
    public func onProgress(
        _ report: @escaping @Sendable (TransferProgress) -> Void
    ) -> WithOptions<Self> {
        guard let earlier = options[TransferProgressOption.self] else {
            return option(TransferProgressOption.self, report)
        }
        return option(TransferProgressOption.self) { progress in
            earlier(progress)
            report(progress)
        }
    }

    /// Reports the progress of the request to ``ProgressUpdates``, which end when the request ends.
    public func onProgress(_ updates: ProgressUpdates) -> WithOptions<Self> {
        option(ProgressReportOption.self, updates.sink)
    }
}

extension WithOptions {
    /// See ``RequestTemplate/responseLimit(_:)``.
    public func responseLimit(_ bytes: Int) -> Self {
        option(ResponseLimitOption.self, bytes)
    }

    /// See ``HTTPRequest/onProgress``.
    public func onProgress(_ report: @escaping @Sendable (TransferProgress) -> Void) -> Self {
        guard let earlier = options[TransferProgressOption.self] else {
            return option(TransferProgressOption.self, report)
        }
        return option(TransferProgressOption.self) { progress in
            earlier(progress)
            report(progress)
        }
    }

    /// See ``HTTPRequest/onProgress``.
    public func onProgress(_ updates: ProgressUpdates) -> Self {
        option(ProgressReportOption.self, updates.sink)
    }
}

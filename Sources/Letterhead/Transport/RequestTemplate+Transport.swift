extension RequestTemplate {
    /// Limits the number of bytes in the body of the response after decompression. The limit applies to buffered,
    /// streamed and downloaded bodies. A larger body causes a `.responseTooLarge` error. Default: see
    /// ``HTTPRequest/responseLimit``.
    public func responseLimit(_ bytes: Int) -> Modified<Self> {
        option(ResponseLimitOption.self, bytes)
    }

    /// Adds a closure that is called while the bodies of the request and of its response are transferred; see
    /// ``HTTPRequest/onProgress``. Closures are called in the order in which they were added.
    public func onProgress(
        _ report: @escaping @Sendable (TransferProgress) -> Void
    ) -> Modified<Self> {
        guard let earlier = options[TransferProgressOption.self] else {
            return option(TransferProgressOption.self, report)
        }
        return option(TransferProgressOption.self) { progress in
            earlier(progress)
            report(progress)
        }
    }

    /// Reports the progress of the request to ``ProgressUpdates``, which end when the request ends. The progress is
    /// also reported to all ``ProgressUpdates`` that were added earlier.
    public func onProgress(_ updates: ProgressUpdates) -> Modified<Self> {
        option(ProgressReportOption.self, options[ProgressReportOption.self].adding(updates))
    }
}

extension Modified {
    /// See ``RequestTemplate/responseLimit(_:)``.
    public func responseLimit(_ bytes: Int) -> Self {
        option(ResponseLimitOption.self, bytes)
    }

    /// Adds a closure that is called while the bodies are transferred; see ``HTTPRequest/onProgress``.
    public func onProgress(_ report: @escaping @Sendable (TransferProgress) -> Void) -> Self {
        guard let earlier = options[TransferProgressOption.self] else {
            return option(TransferProgressOption.self, report)
        }
        return option(TransferProgressOption.self) { progress in
            earlier(progress)
            report(progress)
        }
    }

    /// See ``HTTPRequest/reportProgress(to:)``.
    public func onProgress(_ updates: ProgressUpdates) -> Self {
        option(ProgressReportOption.self, options[ProgressReportOption.self].adding(updates))
    }
}

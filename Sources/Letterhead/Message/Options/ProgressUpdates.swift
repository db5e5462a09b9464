/// The progress of a request as an asynchronous sequence.
///
/// ```swift
/// let updates = ProgressUpdates()
/// async let receipt = client.send(Import(body: file).onProgress(updates))
/// for await progress in updates { bar.value = progress.fractionCompleted }
/// ```
///
/// The sequence ends when the request ends: with a value, an error or a cancellation, before anything was sent, or when
/// the body of a streamed response has been read or dropped. The requests of ``HTTPClient``, ``SendableRequest`` and
/// ``HTTPLoader/start(_:completion:)`` end it. A loader that is used alone does not know which of its calls is the last
/// one. In that case the sequence ends when a response of known length has been received, or with ``finish()``.
///
/// A slow reader misses intermediate updates. Create one value for each request, and iterate it once.
public struct ProgressUpdates: AsyncSequence, Sendable {
    private let stream: AsyncStream<TransferProgress>
    private let continuation: AsyncStream<TransferProgress>.Continuation

    /// Creates the sequence for one request.
    public init() {
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(16))
    }

    /// Reports progress. A request to which the updates were passed with `onProgress` calls it.
    public func report(_ progress: TransferProgress) { sink(progress) }

    /// The receiving end.
    var sink: Report { Report(continuation: continuation) }

    /// Ends the sequence.
    public func finish() { continuation.finish() }

    /// Starts the iteration.
    public func makeAsyncIterator() -> AsyncStream<TransferProgress>.Iterator { stream.makeAsyncIterator() }

    /// The receiving end of ``ProgressUpdates``.
    struct Report: Sendable {
        fileprivate let continuation: AsyncStream<TransferProgress>.Continuation
        /// Whether the end of the request ends the sequence. If it is false, a completed download does.
        fileprivate var isOwned = false

        /// Reports a step.
        func callAsFunction(_ progress: TransferProgress) {
            continuation.yield(progress)
            let isLast = progress.direction == .download && progress.fractionCompleted == 1
            if isLast, !isOwned { continuation.finish() }
        }

        /// Ends the sequence.
        func finish() { continuation.finish() }
    }
}

/// The updates that a request reports its progress to.
enum ProgressReportOption: HTTPRequestOption {
    static let defaultOptionValue: ProgressUpdates.Report? = nil
}

extension HTTPRequest {
    /// Reports the progress of this request to updates, which end when the request ends. A closure that was set in
    /// ``onProgress`` is called as well.
    public mutating func reportProgress(to updates: ProgressUpdates) { progressReport = updates.sink }

    /// The updates that this request reports to.
    var progressReport: ProgressUpdates.Report? {
        get { self[option: ProgressReportOption.self] }
        set { self[option: ProgressReportOption.self] = newValue }
    }

    /// Makes the caller responsible for ending the updates when the request ends.
    ///
    /// - Returns: the updates to end; nil if the request has no updates, or if an outer caller is already responsible.
    mutating func ownProgressReport() -> ProgressUpdates.Report? {
        guard options.contains(ProgressReportOption.self), let report = progressReport, !report.isOwned else {
            return nil
        }
        var owned = report
        owned.isOwned = true
        progressReport = owned
        return report
    }
}

extension HTTPResponse {
    /// Returns this response, and ends the updates: immediately, or when its streamed body has been read or dropped.
    func ending(_ report: ProgressUpdates.Report?) -> HTTPResponse {
        guard let report else { return self }
        guard body.buffered == nil else {
            report.finish()
            return self
        }
        var response = self
        response.body = body.passing { next in
            try await next()
        } end: {
            report.finish()
        }
        return response
    }
}

extension HTTPRequestOptions {
    /// Reports the progress of the requests of a template; see ``HTTPRequest/reportProgress(to:)``.
    public mutating func reportProgress(to updates: ProgressUpdates) { self[ProgressReportOption.self] = updates.sink }
}

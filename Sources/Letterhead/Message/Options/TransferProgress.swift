// SPDX-License-Identifier: MIT
extension HTTPRequest {
    /// The progress of one direction of a transfer.
    public struct Progress: Sendable, Hashable {
        public enum Direction: Sendable, Hashable {
            case upload
            case download
        }

        public let direction: Direction
        /// The number of bytes transferred so far. It never decreases until a retry or a redirect starts a new transfer.
        public let completedBytes: Int
        /// The total number of bytes; nil if it is not known, for example for a compressed body.
        public let totalBytes: Int?

        public init(direction: Direction, completedBytes: Int, totalBytes: Int?) {
            self.direction = direction
            self.completedBytes = completedBytes
            self.totalBytes = totalBytes
        }

        /// The completed fraction from 0 to 1; nil if the total number of bytes is not known.
        public var fractionCompleted: Double? {
            totalBytes.map { $0 == 0 ? 1 : Double(completedBytes) / Double($0) }
        }
    }
}

enum TransferProgressOption: HTTPRequestOption {
    static let defaultOptionValue: (@Sendable (HTTPRequest.Progress) -> Void)? = nil
}

extension RequestSettings {
    /// Set a closure to follow the bodies of the request and of its response while they are transferred; it is called
    /// in order for each direction. The last call for a body of known length with at least one byte has a
    /// ``HTTPRequest/Progress/fractionCompleted`` of 1. Default: nil.
    ///
    /// The closure is called on the thread that reads the bytes, and delays them while it runs. A retry starts from
    /// zero.
    public var onProgress: (@Sendable (HTTPRequest.Progress) -> Void)? {
        get { self[option: TransferProgressOption.self] }
        set { self[option: TransferProgressOption.self] = newValue }
    }
}

extension HTTPRequest {
    /// The closure to which a transport reports: it calls the closure that was set, and also reports to the
    /// ``ProgressUpdates`` that were passed to ``RequestSettings/reportProgress(to:)``. Default: nil.
    public var onProgress: (@Sendable (HTTPRequest.Progress) -> Void)? {
        get {
            let closure = self[option: TransferProgressOption.self]
            guard reportsProgress else { return closure }
            return { [self] progress in
                closure?(progress)
                report(progress)
            }
        }
        set { self[option: TransferProgressOption.self] = newValue }
    }

    /// Removes the closure and the updates to which a transport would report, and returns what calls them; nil if there
    /// are none. Use it in a link that receives one body in several responses, and report the progress of the whole.
    public mutating func takeProgress() -> (@Sendable (HTTPRequest.Progress) -> Void)? {
        guard let report = onProgress else { return nil }
        options.remove(TransferProgressOption.self)
        options.remove(ProgressReportOption.self)
        context.progress = nil
        return report
    }
}

/// The progress of a request as an asynchronous sequence, for example for a progress bar. If you prefer a closure, use
/// ``RequestSettings/onProgress``.
///
/// ```swift
/// let updates = ProgressUpdates()
/// async let receipt = client.send(Import(body: file).onProgress(updates))
/// for await progress in updates { bar.value = progress.fractionCompleted }
/// ```
///
/// The sequence ends when the request ends with a value, an error or a cancellation, even if nothing was sent. If the
/// response is streamed, the sequence ends when the body has been read or dropped. The requests of ``HTTPClient``,
/// ``SendableRequest`` and ``HTTPLoader/start(_:completion:)`` end it. A loader that is used alone does not know which
/// of its calls is the last one. In that case the sequence ends when a response of known length has been received, or
/// with ``finish()``.
///
/// Create one value for each request, and iterate it once. If your loop is slow, it misses intermediate updates. A
/// request can report to several values. A page sequence and an event stream report only the progress of their first
/// request. If the sequence or the stream ends before that request is sent, the updates end as well.
public struct ProgressUpdates: AsyncSequence, Sendable {
    private let stream: AsyncStream<HTTPRequest.Progress>
    private let continuation: AsyncStream<HTTPRequest.Progress>.Continuation
    private let identity = Identity()

    /// The identity of the updates, by which a request recognizes updates that it already reports to.
    fileprivate final class Identity: Sendable {}

    public init() {
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(16))
    }

    /// Reports progress, and ends the sequence with a completed download. Call it from a custom closure; a request to
    /// which the updates were passed reports to them itself.
    public func report(_ progress: HTTPRequest.Progress) { sink.report(progress) }

    /// The receiving end.
    var sink: Report { Report(receivers: [Report.Receiver(identity: identity, continuation: continuation)]) }

    public func finish() { continuation.finish() }

    public func makeAsyncIterator() -> AsyncStream<HTTPRequest.Progress>.Iterator { stream.makeAsyncIterator() }

    /// The receiving ends of one or more ``ProgressUpdates``.
    struct Report: Sendable {
        fileprivate struct Receiver: Sendable {
            let identity: Identity
            let continuation: AsyncStream<HTTPRequest.Progress>.Continuation
        }

        fileprivate var receivers: [Receiver]

        func callAsFunction(_ progress: HTTPRequest.Progress) {
            for receiver in receivers { receiver.continuation.yield(progress) }
        }

        /// Reports a step for which no call site is responsible: a completed download ends the sequences.
        func report(_ progress: HTTPRequest.Progress) {
            self(progress)
            if progress.direction == .download, progress.fractionCompleted == 1 { finish() }
        }

        func finish() { for receiver in receivers { receiver.continuation.finish() } }
    }
}

enum ProgressReportOption: HTTPRequestOption {
    static let defaultOptionValue: ProgressUpdates.Report? = nil
}

extension ProgressUpdates.Report? {
    /// Returns a report that also reaches the updates. Updates that it already reaches are not added again.
    func adding(_ updates: ProgressUpdates) -> ProgressUpdates.Report { adding(updates.sink) }

    fileprivate func adding(_ other: ProgressUpdates.Report) -> ProgressUpdates.Report {
        guard var report = self else { return other }
        report.receivers += other.receivers.filter { added in
            !report.receivers.contains { $0.identity === added.identity }
        }
        return report
    }
}

extension RequestSettings {
    /// Reports the progress of this request to updates, which end when the request ends. A closure that was set in
    /// ``onProgress``, and updates of earlier calls, receive the progress as well.
    public mutating func reportProgress(to updates: ProgressUpdates) {
        progressReport = progressReport.adding(updates)
    }

    /// The updates that were passed to ``reportProgress(to:)``.
    var progressReport: ProgressUpdates.Report? {
        get { self[option: ProgressReportOption.self] }
        set { self[option: ProgressReportOption.self] = newValue }
    }
}

extension HTTPRequest {
    var reportsProgress: Bool { options.contains(ProgressReportOption.self) || context.progress != nil }

    func report(_ progress: HTTPRequest.Progress) {
        context.progress?(progress)
        progressReport?.report(progress)
    }

    /// Makes the call site responsible for ending the updates when the request ends.
    ///
    /// - Returns: the updates to end; nil if the request has no updates, or if an outer call site is already
    ///   responsible for them.
    mutating func takeProgressReport() -> ProgressUpdates.Report? {
        guard options.contains(ProgressReportOption.self) else { return nil }
        defer { options.remove(ProgressReportOption.self) }
        guard let report = progressReport else { return nil }
        let outer = context.progress?.receivers ?? []
        context.progress = context.progress.adding(report)
        let own = report.receivers.filter { receiver in !outer.contains { $0.identity === receiver.identity } }
        return own.isEmpty ? nil : ProgressUpdates.Report(receivers: own)
    }
}

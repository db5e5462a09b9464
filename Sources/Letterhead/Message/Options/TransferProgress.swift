// SPDX-License-Identifier: MIT
extension HTTPRequest {
    /// The progress of a request in one direction: the upload of the request body, or the download of the response
    /// body.
    public struct Progress: Sendable, Hashable {
        /// The direction of a transfer, as seen from the client.
        public enum Direction: Sendable, Hashable {
            /// The request body is being sent.
            case upload
            /// The response body is being received.
            case download
        }

        /// The body that these bytes belong to: the request body for `upload`, the response body for `download`.
        public let direction: Direction
        /// The number of bytes transferred so far. It never decreases until a retry or a redirect starts a new
        /// transfer.
        public let completedBytes: Int
        /// The total number of bytes, or nil if it isn't known, for example for a compressed body.
        public let totalBytes: Int?

        /// Creates a progress value, for a custom transport or a test.
        public init(direction: Direction, completedBytes: Int, totalBytes: Int?) {
            self.direction = direction
            self.completedBytes = completedBytes
            self.totalBytes = totalBytes
        }

        /// The completed fraction from 0 to 1, or nil if the total isn't known.
        public var fractionCompleted: Double? {
            totalBytes.map { $0 == 0 ? 1 : Double(completedBytes) / Double($0) }
        }
    }
}

enum TransferProgressOption: HTTPRequestOption {
    static let defaultOptionValue: (@Sendable (HTTPRequest.Progress) -> Void)? = nil
}

extension RequestSettings {
    /// A closure that is called while the request body and the response body are transferred. Default: nil.
    ///
    /// The closure is called in order for each direction. The last call for a body of known length with at least one
    /// byte has a ``HTTPRequest/Progress/fractionCompleted`` of 1. If the status isn't accepted, the response body is
    /// not reported. A retry starts from zero.
    ///
    /// The closure runs on the thread that reads the bytes, so a slow closure delays them.
    public var onProgress: (@Sendable (HTTPRequest.Progress) -> Void)? {
        get { self[option: TransferProgressOption.self] }
        set { self[option: TransferProgressOption.self] = newValue }
    }
}

extension HTTPRequest {
    /// The closure that a transport calls to report progress. Default: nil.
    ///
    /// It forwards to the closure that the settings contain and to each ``ProgressUpdates``. Setting it replaces both.
    /// A link that receives one body in several responses reports the progress for the whole body: it keeps the closure
    /// and sets the property to nil.
    public var onProgress: (@Sendable (HTTPRequest.Progress) -> Void)? {
        get {
            let (closure, updates) = (self[option: TransferProgressOption.self], progressUpdates)
            guard !updates.isEmpty else { return closure }
            let owned = ownedUpdates
            return { progress in
                closure?(progress)
                for (index, updates) in updates.enumerated() {
                    if index < owned { updates.yield(progress) } else { updates.report(progress) }
                }
            }
        }
        set {
            self[option: TransferProgressOption.self] = newValue
            if !progressUpdates.isEmpty { (progressUpdates, ownedUpdates) = ([], 0) }
        }
    }
}

/// The progress of a request as an asynchronous sequence, for example for a progress bar. For a closure, use
/// ``RequestSettings/onProgress``.
///
/// ```swift
/// let updates = ProgressUpdates()
/// async let receipt = client.send(Import(body: file).onProgress(updates))
/// for await progress in updates { bar.value = progress.fractionCompleted }
/// ```
///
/// Create one value for each request, and iterate it once. A slow loop misses intermediate updates. A request can
/// report to several values. A page sequence and an event stream report only the progress of their first request. If
/// one ends before that request is sent, the updates end as well.
///
/// The sequence ends with the request, even if nothing was sent. For a streamed response, it ends when the body has
/// been read or dropped. ``HTTPClient``, ``SendableRequest`` and ``HTTPLoader/start(_:completion:)`` end it. A loader
/// that is used alone doesn't know which of its calls is the last. The sequence then ends when a response of known
/// length has arrived, or with ``finish()``.
public struct ProgressUpdates: AsyncSequence, Sendable {
    private let stream: AsyncStream<HTTPRequest.Progress>
    private let continuation: AsyncStream<HTTPRequest.Progress>.Continuation
    fileprivate let identity = Identity()

    /// Lets a request recognize updates that it already reports to.
    fileprivate final class Identity: Sendable {}

    /// Creates updates for one request.
    public init() {
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(16))
    }

    /// Reports progress, and ends the sequence if a download is complete. Call it from your own closure. A request that
    /// has the updates reports to them itself.
    public func report(_ progress: HTTPRequest.Progress) {
        yield(progress)
        if progress.direction == .download, progress.fractionCompleted == 1 { finish() }
    }

    /// Reports a step of a load that ends the updates itself, at its call site.
    fileprivate func yield(_ progress: HTTPRequest.Progress) { continuation.yield(progress) }

    /// Ends the sequence. Call it only if you use a loader alone.
    public func finish() { continuation.finish() }

    public func makeAsyncIterator() -> AsyncStream<HTTPRequest.Progress>.Iterator { stream.makeAsyncIterator() }
}

enum ProgressUpdatesOption: HTTPRequestOption {
    static let defaultOptionValue: [ProgressUpdates] = []
}

extension RequestSettings {
    /// Reports the progress of this request to updates that end with the request. A closure in ``onProgress`` and
    /// earlier updates receive the progress as well.
    public mutating func reportProgress(to updates: ProgressUpdates) {
        if !progressUpdates.contains(where: { $0.identity === updates.identity }) { progressUpdates.append(updates) }
    }

    /// Ends the progress updates of a request that is not sent, such as the first request of a sequence with invalid
    /// settings.
    public func endProgress() { for updates in progressUpdates { updates.finish() } }

    var progressUpdates: [ProgressUpdates] {
        get { self[option: ProgressUpdatesOption.self] }
        set { self[option: ProgressUpdatesOption.self] = newValue }
    }
}

extension HTTPRequest {
    /// Makes the call site responsible for ending the updates that no outer call site ends, and returns them.
    ///
    /// - Parameter outer: the number of updates that an outer call site ends.
    mutating func ownUpdates(after outer: Int) -> [ProgressUpdates] {
        let updates = progressUpdates
        guard !updates.isEmpty else { return [] }
        ownedUpdates = updates.count
        return Array(updates.dropFirst(outer))
    }
}

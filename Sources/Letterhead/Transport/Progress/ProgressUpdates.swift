/// The progress of a request as a sequence, for those who would rather walk than be called.
///
/// ```swift
/// let updates = ProgressUpdates()
/// async let receipt = client.send(Import(body: file).onProgress(updates.report))
/// for await progress in updates { bar.value = progress.fractionCompleted }
/// ```
///
/// A slow reader misses intermediate steps and never the last one of a direction. It ends when the response has arrived
/// whole, or with ``finish()``. It is walked once.
public struct ProgressUpdates: AsyncSequence, Sendable {
    private let stream: AsyncStream<TransferProgress>
    private let continuation: AsyncStream<TransferProgress>.Continuation

    /// Makes one, for one request.
    public init() {
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(16))
    }

    /// Hand this to `onProgress`.
    public func report(_ progress: TransferProgress) {
        continuation.yield(progress)
        if progress.direction == .download, progress.fractionCompleted == 1 { continuation.finish() }
    }

    /// Ends the sequence: for a response whose length nobody knows, or that failed.
    public func finish() { continuation.finish() }

    /// Starts the walk.
    public func makeAsyncIterator() -> AsyncStream<TransferProgress>.Iterator { stream.makeAsyncIterator() }
}

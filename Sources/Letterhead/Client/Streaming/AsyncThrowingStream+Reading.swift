// SPDX-License-Identifier: MIT
import Synchronization

extension AsyncThrowingStream where Failure == any Error {
    /// Creates a stream from an asynchronous sequence, such as lines, events or items, for a function that returns an
    /// `AsyncThrowingStream`.
    ///
    /// ```swift
    /// func lines() async throws -> AsyncThrowingStream<String, any Error> {
    ///     AsyncThrowingStream(reading: try await client.stream(Logs()).body.lines)
    /// }
    /// ```
    ///
    /// - The stream has neither a buffer nor a task. Each call of its iterator reads one element of the sequence in the
    ///   calling task. A slow reader therefore slows the server down, as without the stream.
    /// - Cancelling the reading task ends the request at once, and so does releasing the stream. In a task that was
    ///   cancelled before it asks for an element, a stream ends without an error, as any `AsyncThrowingStream` does.
    /// - The stream is read once and by one task. A read in parallel, or after an error, throws
    ///   ``HTTPBodyError/alreadyRead``.
    public init<Base: AsyncSequence & Sendable>(reading base: Base) where Base.Element == Element {
        // Nil during a read, and after an error.
        let resting = Mutex<Reading<Base.AsyncIterator>?>(Reading(iterator: base.makeAsyncIterator()))
        self.init {
            guard var reading = resting.withLock({ $0.take() }) else { throw HTTPBodyError.alreadyRead }
            let element = try await reading.iterator.next()
            resting.withLock { [reading] in $0 = reading }
            return element
        }
    }
}

/// `@unchecked`: only its stream has the iterator, and each read takes it out of its place until the element arrives.
private struct Reading<Iterator>: @unchecked Sendable {
    var iterator: Iterator
}

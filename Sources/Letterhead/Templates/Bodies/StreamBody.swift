// SPDX-License-Identifier: MIT
public import LetterheadFoundation
import Synchronization

#if Foundation || canImport(Darwin)
    public import Foundation
#endif

/// A body that reads its bytes from an asynchronous sequence, no faster than the bytes can be sent.
///
/// ```swift
/// StreamBody(length: size, contentType: "video/mp4") { try camera.recording() }   // a new sequence for each attempt
/// StreamBody(once: camera.live)                                                   // can be sent only once
/// ```
///
/// Use it for bytes that you produce during the upload. For a file, use ``FileBody``.
///
/// Set a length if you know it: it becomes the Content-Length, and a longer or shorter stream fails with
/// ``HTTPBodyError/invalid(_:file:)``. Otherwise, the request has no Content-Length. A one-shot stream isn't sent again
/// for a retry, a redirect or new credentials.
public struct StreamBody: HTTPBody, SteadyBody {
    /// The Content-Type of the body, and the additional headers that you passed.
    public var additionalHeaders: HTTPHeaders
    /// The length that you passed. Nil if you passed none: the request then has no Content-Length.
    public let contentLength: Int?
    /// Whether the request can be sent again, because each attempt has a new stream. False for a one-shot stream.
    public let isReplayable: Bool
    private let walk: @Sendable () throws -> BodyChunks

    /// Creates a body from a closure that creates a new stream for each attempt.
    ///
    /// - Parameters:
    ///   - length: the number of bytes. Sending fails if it is negative. Default: nil (unknown).
    ///   - contentType: the media type. Default: nil (no Content-Type).
    ///   - additionalHeaders: further headers. A Content-Type among them takes precedence.
    ///   - make: creates the stream when its first bytes are needed. If it throws, the request fails.
    public init<Stream: AsyncSequence & SendableMetatype>(
        length: Int? = nil, contentType: MediaType? = nil, additionalHeaders: HTTPHeaders = [:],
        _ make: @escaping @Sendable () async throws -> Stream
    ) where Stream.Element == Data {
        self.init(length, contentType, additionalHeaders, isReplayable: true, make)
    }

    /// Creates a body from a stream that can be iterated only once. The request isn't sent again for a retry, a
    /// redirect or new credentials.
    public init<Stream: AsyncSequence & Sendable>(
        once stream: Stream, length: Int? = nil, contentType: MediaType? = nil, additionalHeaders: HTTPHeaders = [:]
    ) where Stream.Element == Data {
        self.init(length, contentType, additionalHeaders, isReplayable: false) { stream }
    }

    /// Creates a body from a closure. Unless the body is replayable, the closure is called at most once.
    init<Stream: AsyncSequence & SendableMetatype>(
        _ length: Int?, _ contentType: MediaType?, _ additionalHeaders: HTTPHeaders, isReplayable: Bool,
        _ make: @escaping @Sendable () async throws -> Stream
    ) where Stream.Element == Data {
        contentLength = length
        self.isReplayable = isReplayable
        self.additionalHeaders = additionalHeaders.describing(contentType)
        let ticket = isReplayable ? nil : OneTimeTicket()
        walk = {
            // Checked before anything is sent. Two requests can still pass here at once, so the ticket is taken below.
            try ticket?.check()
            let walk = StreamWalk {
                try ticket?.take()
                return try await make()
            }
            return BodyChunks(length: length) { try await walk.next() }
        }
    }

    /// Creates a body from pieces that you already have, or that a lazy sequence produces while they are sent.
    ///
    /// A collection can be iterated again, so its body can be sent again. Any other sequence is sent at most once,
    /// because the first iteration may consume it. Each piece is requested after the previous one has been sent.
    public init<Pieces: Sequence & Sendable>(
        _ pieces: Pieces, length: Int? = nil, contentType: MediaType? = nil, additionalHeaders: HTTPHeaders = [:]
    ) where Pieces.Element == Data {
        let stream = AsyncPieces(pieces: pieces)
        if pieces is any Collection {
            self.init(length: length, contentType: contentType, additionalHeaders: additionalHeaders) { stream }
        } else {
            self.init(once: stream, length: length, contentType: contentType, additionalHeaders: additionalHeaders)
        }
    }

    /// Returns the bytes. Requesting the first bytes starts the iteration over the stream.
    ///
    /// - Throws: ``HTTPBodyError/invalid(_:file:)`` for a negative length.
    public func chunks() throws -> BodyChunks { try walk().held(to: contentLength) }
}

/// A sequence whose elements are requested one by one, each when the previous one was sent.
struct AsyncPieces<Pieces: Sequence & Sendable>: AsyncSequence, Sendable {
    let pieces: Pieces

    func makeAsyncIterator() -> Iterator { Iterator(pieces: pieces.makeIterator()) }

    struct Iterator: AsyncIteratorProtocol {
        var pieces: Pieces.Iterator

        mutating func next(isolation actor: (any Actor)?) async -> Pieces.Element? { pieces.next() }
    }
}

/// Iterates over an asynchronous sequence. An actor, because the iterator is mutable state.
package actor StreamWalk<Stream: AsyncSequence> where Stream.Element == Data {
    private let make: @Sendable () async throws -> Stream
    private var iterator: Stream.AsyncIterator?

    package init(_ make: @escaping @Sendable () async throws -> Stream) { self.make = make }

    package func next() async throws -> Data? {
        var walk: Stream.AsyncIterator
        if let iterator { walk = iterator } else { walk = try await make().makeAsyncIterator() }
        let chunk = try await walk.next(isolation: self)
        iterator = walk
        return chunk
    }
}

/// Ensures that all copies of a body use a stream only once.
final class OneTimeTicket: Sendable {
    private let isTaken = Atomic(false)

    func check() throws(HTTPBodyError) { if isTaken.load(ordering: .relaxed) { throw Self.spent } }

    func take() throws(HTTPBodyError) { if isTaken.exchange(true, ordering: .relaxed) { throw Self.spent } }

    private static let spent = HTTPBodyError.invalid(
        "the stream can be sent only once and has already been sent (pass a closure that creates it)")
}

// `InputStream` is not in FoundationEssentials.
#if Foundation || canImport(Darwin)
    extension StreamBody {
        /// Creates a body from a Foundation stream, which can be sent only once. Requesting its first bytes opens the
        /// stream, and its end closes it.
        ///
        /// Don't use the stream afterwards. Reading blocks a thread while the stream waits for bytes, so prefer an
        /// asynchronous sequence unless the bytes are in memory or in a file.
        public init(
            _ stream: sending InputStream, length: Int? = nil, contentType: MediaType? = nil,
            additionalHeaders: HTTPHeaders = [:]
        ) {
            let reader = InputStreamReader(stream)
            self.init(
                once: AsyncThrowingStream { try await reader.next() }, length: length, contentType: contentType,
                additionalHeaders: additionalHeaders)
        }
    }

    /// Reads an `InputStream` in pieces of at most 64 KiB. An actor, because the stream is mutable state.
    private actor InputStreamReader {
        private let stream: InputStream

        init(_ stream: sending InputStream) { self.stream = stream }

        func next() throws -> Data? {
            if stream.streamStatus == .notOpen { stream.open() }
            let tooLarge = HTTPBodyError.invalid("there is not enough memory to read the stream")
            let piece = try Data.filled(count: 64 << 10, orThrow: tooLarge) { buffer throws(HTTPBodyError) in
                // The stream writes at most as many bytes as the buffer has.
                guard let start = unsafe buffer.bindMemory(to: UInt8.self).baseAddress else { return 0 }
                let count = unsafe stream.read(start, maxLength: buffer.count)
                guard count >= 0 else { throw HTTPBodyError.invalid("the stream cannot be read: \(reason)") }
                return count
            }
            if piece.isEmpty { stream.close() }
            return piece.isEmpty ? nil : piece
        }

        private var reason: String { stream.streamError.map { HTTPError.summary(of: $0) } ?? "it reports no reason" }
    }
#endif

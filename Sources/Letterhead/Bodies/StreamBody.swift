public import Foundation
import Synchronization

/// Bytes from an asynchronous sequence, pulled as fast as they can be sent, never faster.
///
/// ```swift
/// StreamBody(length: size, contentType: "video/mp4") { try camera.recording() }   // made anew for every try
/// StreamBody(once: camera.live)                                                   // can be sent once
/// ```
///
/// With a length it is sent with exactly that Content-Length, and a stream that is longer or shorter is ``HTTPBodyError/invalid(_:file:)``;
/// without, in chunks of unknown number. A stream in hand is never sent twice: not by a retry, a redirect or a refresh.
public struct StreamBody: HTTPBody {
    /// The headers that come with it.
    public var additionalHeaders: HTTPHeaders
    /// How many bytes it has, when that was said.
    public let contentLength: Int?
    /// Whether the stream can be made anew.
    public let isReplayable: Bool
    private let walk: @Sendable () -> BodyChunks

    /// Makes a body of a stream that is made anew each time the body is sent.
    ///
    /// - Parameters:
    ///   - length: how many bytes it has; a negative one is refused at the load. Default: not known.
    ///   - contentType: what it is. Default: not said.
    ///   - additionalHeaders: further headers; a Content-Type among them wins. Default: none.
    ///   - make: makes the stream, when its first bytes are asked for; what it throws fails the load.
    public init<Stream: AsyncSequence & SendableMetatype>(
        length: Int? = nil, contentType: MediaType? = nil, additionalHeaders: HTTPHeaders = [:],
        _ make: @escaping @Sendable () async throws -> Stream
    ) where Stream.Element == Data {
        contentLength = length
        isReplayable = true
        self.additionalHeaders = additionalHeaders.describing(contentType)
        walk = {
            let walk = StreamWalk(make)
            return BodyChunks(length: length) { try await walk.next() }
        }
    }

    /// Makes a body of a stream that there is only once.
    ///
    /// - Parameters:
    ///   - stream: the bytes.
    ///   - length: how many bytes it has; a negative one is refused at the load. Default: not known.
    ///   - contentType: what it is. Default: not said.
    ///   - additionalHeaders: further headers; a Content-Type among them wins. Default: none.
    public init<Stream: AsyncSequence & Sendable>(
        once stream: Stream, length: Int? = nil, contentType: MediaType? = nil, additionalHeaders: HTTPHeaders = [:]
    ) where Stream.Element == Data {
        contentLength = length
        isReplayable = false
        self.additionalHeaders = additionalHeaders.describing(contentType)
        let ticket = OneTimeTicket()
        walk = {
            let walk = StreamWalk {
                try ticket.take()
                return stream
            }
            return BodyChunks(length: length) { try await walk.next() }
        }
    }

    /// The bytes; the stream is begun when the first of them are asked for.
    ///
    /// - Throws: ``HTTPBodyError/invalid(_:file:)`` for a negative length.
    public func chunks() throws -> BodyChunks { try walk().held(to: contentLength) }
}

/// One walk over an asynchronous sequence. An actor, because the iterator must not be used by two callers at once.
actor StreamWalk<Stream: AsyncSequence> where Stream.Element == Data {
    private let make: @Sendable () async throws -> Stream
    private var iterator: Stream.AsyncIterator?

    init(_ make: @escaping @Sendable () async throws -> Stream) { self.make = make }

    func next() async throws -> Data? {
        var walk: Stream.AsyncIterator
        if let iterator { walk = iterator } else { walk = try await make().makeAsyncIterator() }
        let chunk = try await walk.next(isolation: self)
        iterator = walk
        return chunk
    }
}

/// Lets the first one through. A class, because copies of a body share the one stream.
final class OneTimeTicket: Sendable {
    private let isTaken = Mutex(false)

    func take() throws(HTTPBodyError) {
        let wasTaken = isTaken.withLock { isTaken in
            defer { isTaken = true }
            return isTaken
        }
        if wasTaken {
            throw HTTPBodyError.invalid(
                "the stream was sent already, and there is only one; give a closure that makes it")
        }
    }
}

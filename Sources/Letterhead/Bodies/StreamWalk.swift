import Foundation
import Synchronization

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

import Foundation
import Synchronization

/// A streamed response that is being stored while its body is read.
///
/// This type is a class because the body and its end share it. A recording that is dropped stores nothing.
final class CacheRecording: Sendable {
    private let writer: Mutex<(any CacheWriting)?>
    private let ticket: CacheState.Ticket
    private let cache: ResponseCache

    init(_ writer: any CacheWriting, ticket: CacheState.Ticket, cache: ResponseCache) {
        self.writer = Mutex(writer)
        (self.ticket, self.cache) = (ticket, cache)
    }

    deinit { discard() }

    func append(_ piece: Data) {
        guard let writer = writer.withLock({ $0 }) else { return }
        if cache.guarded({ try writer.append(piece) }) != true { discard() }
    }

    /// Stores the response, unless it was invalidated while it was received.
    func finish() {
        guard let writer = writer.withLock({ $0.take() }) else { return }
        let isCurrent = cache.state.withLock { $0.isCurrent(ticket) }
        if isCurrent { _ = cache.guarded { try writer.finish() } } else { writer.discard() }
        // An invalidation that occurred during the save did not find the response, so it is removed now.
        let isValid = cache.state.withLock { $0.end(ticket) }
        if isCurrent, !isValid { _ = cache.guarded { try cache.storage.remove(url: ticket.url) } }
    }

    /// Stores nothing.
    func discard() {
        guard let writer = writer.withLock({ $0.take() }) else { return }
        _ = cache.state.withLock { $0.end(ticket) }
        writer.discard()
    }
}

// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation
import Synchronization

/// Sends a request to the server, and stores its response if that is allowed.
struct CacheForward: Sendable {
    let exchange: CacheExchange
    let key: CacheKey

    private var cache: ResponseCache { exchange.cache }
    private var request: HTTPRequest { exchange.request }

    func response() async throws(HTTPError) -> HTTPResponse {
        let start = cache.seconds
        let ticket = cache.state.withLock { $0.begin(key.url) }
        do throws(HTTPError) {
            return store(try await exchange.next.load(request), ticket: ticket, start: start)
        } catch {
            cache.state.withLock { $0.end(ticket) }
            throw error
        }
    }

    func store(_ response: HTTPResponse, ticket: CacheState.Ticket, start: Int64) -> HTTPResponse {
        var response = response
        let head = CachedHead(response, to: request, requestTime: start, responseTime: cache.seconds)
        do throws(CacheRules.Refusal) {
            try CacheRules.checkStorable(head, to: request)
            guard exchange.belongs(head, sentAs: response.request) else { throw .changedBelow }
        } catch {
            cache.state.withLock { $0.end(ticket) }
            response.cacheDecision = error.decision
            return response
        }
        guard let data = response.body.buffered else { return streaming(response, head, ticket) }
        let isProven = !response.metrics.hasUnauthenticatedEnd
        response.cacheDecision = isProven ? save(data, head, ticket) : CacheRules.Refusal.truncated.decision
        cache.state.withLock { $0.end(ticket) }
        return response
    }

    private func save(_ data: Data, _ head: CachedHead, _ ticket: CacheState.Ticket) -> CacheDecision {
        let decision = cache.guarded {
            guard cache.state.withLock({ $0.isCurrent(ticket) }) else { return CacheRules.Refusal.outdated.decision }
            let writer = try cache.storage.write(head, for: key)
            guard try writer.append(data) else { return CacheRules.Refusal.tooLarge.decision }
            return try cache.storing(ticket, writer.finish) == nil
                ? CacheRules.Refusal.outdated.decision : CacheDecision(outcome: .stored)
        }
        return decision ?? CacheDecision(outcome: .missed, reason: "the store failed")
    }

    /// Returns the response with a body that stores each piece while the caller reads it.
    private func streaming(_ response: HTTPResponse, _ head: CachedHead, _ ticket: CacheState.Ticket) -> HTTPResponse {
        var response = response
        guard let writer = cache.guarded({ try cache.storage.write(head, for: key) }) else {
            cache.state.withLock { $0.end(ticket) }
            response.cacheDecision = CacheDecision(outcome: .missed, reason: "the store failed")
            return response
        }
        let recording = CacheRecording(writer, ticket: ticket, cache: cache)
        response.body = response.body.map(length: response.body.length) { piece in
            recording.append(piece)
            return piece
        }
        // The closure must not keep the body.
        var withoutBody = response
        withoutBody.body = HTTPResponseBody()
        response.body.onEnd { [withoutBody] end in
            let isProven = !withoutBody.metrics.hasUnauthenticatedEnd
            if case .complete = end, isProven { recording.finish() } else { recording.discard() }
        }
        response.cacheDecision = CacheDecision(outcome: .stored, reason: "when its body has been read")
        return response
    }
}

/// Stores a streamed response while the caller reads its body. If the body is dropped before its end, nothing is
/// stored.
///
/// The piece closure and the end closure of the body share this object.
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
        _ = cache.guarded { if try cache.storing(ticket, writer.finish) == nil { writer.discard() } }
        cache.state.withLock { $0.end(ticket) }
    }

    func discard() {
        guard let writer = writer.withLock({ $0.take() }) else { return }
        cache.state.withLock { $0.end(ticket) }
        writer.discard()
    }
}

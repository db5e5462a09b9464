// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import NIOCore
import Synchronization

/// The body of a request. AsyncHTTPClient asks for a piece when the connection can take it.
struct UploadBytes: AsyncSequence, Sendable {
    private let body: BodyChunks
    private let exchange: Exchange

    init(_ body: BodyChunks, of exchange: Exchange) { (self.body, self.exchange) = (body, exchange) }

    func makeAsyncIterator() -> Iterator { Iterator(body, exchange) }

    struct Iterator: AsyncIteratorProtocol {
        private let exchange: Exchange
        private let length: Int?
        /// The bytes in memory that were not returned yet, or nil if the body is produced in pieces.
        private var rest: Data?
        private var chunks: BodyChunks.Iterator
        private var count = 0

        init(_ body: BodyChunks, _ exchange: Exchange) {
            (self.exchange, length, rest, chunks) = (exchange, body.length, body.data, body.makeAsyncIterator())
        }

        /// Returns the next piece. At this point, the connection has accepted the previous pieces, so they are reported
        /// as progress.
        mutating func next() async throws -> ByteBuffer? {
            exchange.noteSending()
            if count > 0 { exchange.report(.upload, count, of: length) }
            do {
                guard let piece = try await nextPiece(), !piece.isEmpty else { return nil }
                count += piece.count
                exchange.noteSending(piece.count)
                return ByteBuffer(bytes: piece)
            } catch {
                exchange.finish(HTTPError(ofBody: error, request: exchange.request, mayHaveBeenSent: true))
                throw error
            }
        }

        mutating func next(isolation: isolated (any Actor)?) async throws -> ByteBuffer? { try await next() }

        private mutating func nextPiece() async throws -> Data? {
            if let rest {
                self.rest = rest.dropFirst(Self.pieceSize)
                return rest.prefix(Self.pieceSize)
            }
            // AsyncHTTPClient doesn't cancel the task that sends a body, so a separate task produces the piece.
            let task = Task { [chunks] in
                var chunks = chunks
                return (try await chunks.next(), chunks)
            }
            exchange.cancelUpload { task.cancel() }
            let (piece, chunks) = try await task.value
            self.chunks = chunks
            return piece
        }

        private static let pieceSize = 64 << 10
    }
}

extension Exchange {
    /// Records that bytes are being sent.
    fileprivate func noteSending(_ count: Int = 0) {
        state.withLock { state in
            state.lastActivity = .now
            state.metrics.bytesSent += count
        }
    }

    /// Keeps a closure that stops producing a piece. If the exchange has already ended, calls it at once.
    fileprivate func cancelUpload(_ cancel: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLock { state in
            if state.end == nil { state.cancelsUpload = cancel }
            return state.end != nil
        }
        if hasEnded { cancel() }
    }
}

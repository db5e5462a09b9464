// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead
import Synchronization

extension HTTPResponseBody {
    /// Creates a streamed body from pieces, each of which arrives after a delay.
    init(pieces: [(delay: Duration, data: Data)], clock: any Clock<Duration>, failure: HTTPError? = nil) {
        let next = PieceIndex()
        self.init(length: nil) {
            let index = next.take()
            guard index < pieces.count else {
                if let failure { throw failure }
                return nil
            }
            let piece = pieces[index]
            if piece.delay > .zero { try await clock.pause(for: piece.delay) }
            return piece.data
        }
    }
}

/// The index of the next piece. This type is a class because the closure of the body shares it.
private final class PieceIndex: Sendable {
    private let next = Mutex(0)

    func take() -> Int {
        next.withLock { next in
            defer { next += 1 }
            return next
        }
    }
}

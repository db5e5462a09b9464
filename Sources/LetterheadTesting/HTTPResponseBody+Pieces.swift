// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead
import Synchronization

extension HTTPResponseBody {
    /// Creates a streamed body. Each piece arrives after a delay.
    init(pieces: [(delay: Duration, data: Data)], clock: any Clock<Duration>, failure: HTTPError? = nil) {
        let next = Atomic(0)
        self.init(length: nil) {
            let index = next.add(1, ordering: .relaxed).oldValue
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

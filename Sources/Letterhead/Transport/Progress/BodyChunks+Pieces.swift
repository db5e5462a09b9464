import Foundation
import Synchronization

extension BodyChunks {
    /// The same bytes, those of a body in memory in pieces of 64 KiB, so that they can be counted as they go.
    var inPieces: BodyChunks {
        guard let data, !data.isEmpty else { return self }
        let cursor = Cursor(data)
        return BodyChunks(length: data.count) { cursor.next() }
    }

    /// How far the pieces have come. A class, since the closure that gives them is a value.
    private final class Cursor: Sendable {
        private let rest: Mutex<Data>

        init(_ data: Data) { rest = Mutex(data) }

        func next() -> Data? {
            rest.withLock { rest in
                guard !rest.isEmpty else { return nil }
                defer { rest = rest.dropFirst(64 << 10) }
                return rest.prefix(64 << 10)
            }
        }
    }
}

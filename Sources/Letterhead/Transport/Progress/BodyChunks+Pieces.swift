import Foundation
import Synchronization

extension BodyChunks {
    /// The same bytes. A body in memory is split into pieces of 64 KiB, so that its progress can be reported.
    var inPieces: BodyChunks {
        guard let data, !data.isEmpty else { return self }
        let cursor = Cursor(data)
        return BodyChunks(length: data.count) { cursor.next() }
    }

    /// The position in the bytes. It is a class, because the closure that returns the pieces shares it.
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

// SPDX-License-Identifier: MIT
package import Foundation
package import Letterhead
import Synchronization

/// Bodies that arrive in the pieces that a test chooses.
package enum StreamedBody {
    /// The bytes in pieces of one size.
    package static func of(_ bytes: [UInt8], piecesOf size: Int) -> HTTPResponseBody {
        of(pieces(of: bytes, size: size))
    }

    package static func of(_ text: String, piecesOf size: Int = .max) -> HTTPResponseBody {
        of(Array(text.utf8), piecesOf: size)
    }

    /// The pieces, then an error if there is one.
    package static func of(_ pieces: [Data], failing error: (any Error & Sendable)? = nil) -> HTTPResponseBody {
        let source = PieceSource(pieces, error)
        return HTTPResponseBody(length: nil, pull: source.next)
    }

    package static func pieces(of bytes: [UInt8], size: Int) -> [Data] {
        stride(from: 0, to: bytes.count, by: max(min(size, bytes.count), 1)).map {
            Data(bytes[$0..<min($0 + min(size, bytes.count), bytes.count)])
        }
    }
}

/// Hands out pieces in order. A class, because the body's closure is called again and again.
private final class PieceSource: Sendable {
    private let pieces: Mutex<ArraySlice<Data>>
    private let error: (any Error & Sendable)?

    init(_ pieces: [Data], _ error: (any Error & Sendable)?) {
        self.pieces = Mutex(pieces[...])
        self.error = error
    }

    func next() async throws -> Data? {
        if let piece = pieces.withLock({ $0.popFirst() }) { return piece }
        if let error { throw error }
        return nil
    }
}

extension AsyncSequence {
    /// All elements.
    package func all() async throws -> [Element] {
        var all: [Element] = []
        for try await element in self { all.append(element) }
        return all
    }

    /// The elements before the end or an error, and the error.
    package func allAndError() async -> (elements: [Element], error: (any Error)?) {
        var all: [Element] = []
        do {
            for try await element in self { all.append(element) }
            return (all, nil)
        } catch {
            return (all, error)
        }
    }
}

// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// The bytes of a multipart body in order: for each part a delimiter, the header fields and the content, and at the end
/// the closing delimiter.
struct MultipartSegments: Sendable {
    let segments: [BodyChunks]

    /// The number of bytes. Nil if the length of a segment is unknown.
    var length: Int? {
        let known = segments.compactMap(\.length)
        return known.count == segments.count ? known.reduce(0, +) : nil
    }

    /// Returns the bytes of all segments, which must be in memory.
    ///
    /// - Throws: ``HTTPBodyError/invalid(_:file:)`` if there is not enough memory.
    func data() throws(HTTPBodyError) -> Data {
        let length = length ?? 0
        var bytes = GrowingBytes(capacity: length)
        for segment in segments {
            guard bytes.append(segment.data ?? Data()) else {
                throw HTTPBodyError.invalid("the multipart body of \(length) bytes does not fit into memory")
            }
        }
        return bytes.take()
    }

    /// Returns the bytes, in one piece if they are in memory and at most 1 MiB.
    func chunks() throws(HTTPBodyError) -> BodyChunks {
        let length = length
        if let length, length <= 1 << 20, segments.allSatisfy({ $0.data != nil }) { return BodyChunks(try data()) }
        let walk = MultipartWalk(segments)
        return BodyChunks(length: length) { try await walk.next() }
    }
}

/// Iterates over segments. It returns segments in memory directly, and reads files and streams in pieces.
private actor MultipartWalk {
    /// Joins bytes up to this size, so that a small part doesn't become a separate piece. Larger contents aren't
    /// copied.
    private static let joined = 64 << 10

    private let segments: [BodyChunks]
    private var index = 0
    private var current: BodyChunks.Iterator?

    init(_ segments: [BodyChunks]) { self.segments = segments }

    func next() async throws -> Data? {
        while index < segments.count {
            if let held = held() { return held }
            do {
                var walk = current ?? segments[index].makeAsyncIterator()
                if let piece = try await walk.next() {
                    current = walk
                    return piece
                }
            } catch let error as HTTPBodyError {
                // Each part has three segments.
                throw error.inside(part: index / 3)
            }
            current = nil
            index += 1
        }
        return nil
    }

    /// Returns the next bytes in memory. Nil if the next segment isn't in memory.
    private func held() -> Data? {
        guard var held = segments[index].data else { return nil }
        index += 1
        while index < segments.count, let data = segments[index].data, held.count + data.count <= Self.joined {
            held.append(data)
            index += 1
        }
        return held
    }
}

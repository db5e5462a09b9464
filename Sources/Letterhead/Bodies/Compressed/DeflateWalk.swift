import Foundation

/// One walk over a body while it is compressed. An actor, because it holds the state of the compression.
actor DeflateWalk {
    private let deflater: Deflater
    private var walk: BodyChunks.Iterator
    private var isFinished = false

    init(_ chunks: BodyChunks, level: Int) throws(HTTPBodyError) {
        deflater = try Deflater(level: level)
        walk = chunks.makeAsyncIterator()
    }

    /// The next compressed bytes, empty while the compression is gathering; nil at the end.
    func next() async throws -> Data? {
        guard !isFinished else { return nil }
        var walk = walk
        let chunk = try await walk.next()
        self.walk = walk
        if let chunk { return try deflater.add(chunk) }
        isFinished = true
        return try deflater.finish(Data())
    }
}

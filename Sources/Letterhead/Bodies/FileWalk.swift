import Foundation

/// One walk over a file. An actor, because it remembers how far it is, and so that reading never blocks a caller's actor.
actor FileWalk {
    /// How much is read at once.
    static let pieceSize = 64 << 10

    let file: RegularFile
    private var open: OpenFile?
    private var left: Int

    init(_ file: RegularFile) {
        self.file = file
        left = file.size
    }

    /// The next piece; nil at the end, when the file still has the size it had at the beginning.
    func next() throws -> Data? {
        let open = try open ?? file.open()
        self.open = open
        guard left > 0 else {
            try open.checkEnd()
            return nil
        }
        let piece = try open.read(min(left, Self.pieceSize))
        left -= piece.count
        return piece.isEmpty ? nil : piece
    }
}

import Foundation

/// What has arrived of a body and was not taken yet, and who waits for more. Pure bookkeeping: the exchange keeps it under
/// its lock and resumes whoever it names.
struct URLSessionInbox {
    typealias Reader = CheckedContinuation<Data?, any Error>

    /// What to do with a piece that arrived.
    enum Arrival {
        case held
        case wanted(Reader)
        case overflow
    }

    private var pieces: [Data] = []
    /// Who waits, in order: several tasks may read one body.
    private var readers: [Reader] = []
    private var end: Result<Data?, any Error>?
    private(set) var heldBytes = 0
    /// Whether the task rests until the reader has caught up.
    private var isResting = false

    /// Takes a piece, for whoever waits or to be held, as long as no more is held than allowed.
    mutating func add(_ data: Data, limit: Int) -> Arrival {
        if !readers.isEmpty { return .wanted(readers.removeFirst()) }
        guard heldBytes + data.count <= limit else { return .overflow }
        heldBytes += data.count
        pieces.append(data)
        return .held
    }

    /// Returns the next piece or the end, or nil: then the reader waits for it, after those that wait already.
    mutating func ask(_ reader: Reader) -> Result<Data?, any Error>? {
        guard let piece = pieces.first else {
            if end == nil { readers.append(reader) }
            return end
        }
        pieces.removeFirst()
        heldBytes -= piece.count
        return .success(piece)
    }

    /// Says that the task is to rest, and only once, when more is held than so many bytes.
    mutating func beginsRest(above limit: Int) -> Bool {
        guard !isResting, heldBytes > limit else { return false }
        isResting = true
        return true
    }

    /// Says that a task that rests is to go on, and only once, when no more is held than so many bytes.
    mutating func endsRest(upTo limit: Int) -> Bool {
        guard isResting, heldBytes <= limit else { return false }
        isResting = false
        return true
    }

    /// Notes the end, and returns all that wait. Only the first end counts.
    mutating func finish(_ result: Result<Data?, any Error>) -> [Reader] {
        if end == nil { end = result }
        defer { readers = [] }
        return readers
    }

    /// Returns everything that is held, in one piece; nil when there is no memory for it.
    mutating func takeAll() -> Data? {
        defer { (pieces, heldBytes) = ([], 0) }
        if pieces.count == 1 { return pieces[0] }
        var bytes = GrowingBytes()
        for piece in pieces { guard bytes.append(piece) else { return nil } }
        return bytes.take()
    }
}

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
    private var reader: Reader?
    private var end: Result<Data?, any Error>?
    private(set) var heldBytes = 0
    /// Whether the task rests until the reader has caught up.
    private var isResting = false

    /// Takes a piece, for whoever waits or to be held, as long as no more is held than allowed.
    mutating func add(_ data: Data, limit: Int) -> Arrival {
        if let reader {
            self.reader = nil
            return .wanted(reader)
        }
        guard heldBytes + data.count <= limit else { return .overflow }
        heldBytes += data.count
        pieces.append(data)
        return .held
    }

    /// The next piece or the end, or nil: then the reader waits for it.
    mutating func ask(_ reader: Reader) -> Result<Data?, any Error>? {
        guard let piece = pieces.first else {
            if end == nil { self.reader = reader }
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

    /// Notes the end, and gives whoever waits for it. Only the first end counts.
    mutating func finish(_ result: Result<Data?, any Error>) -> Reader? {
        if end == nil { end = result }
        defer { reader = nil }
        return reader
    }

    /// Everything that is held, in one piece.
    mutating func takeAll() -> Data {
        defer { (pieces, heldBytes) = ([], 0) }
        return pieces.count == 1 ? pieces[0] : pieces.reduce(into: Data(capacity: heldBytes)) { $0 += $1 }
    }
}

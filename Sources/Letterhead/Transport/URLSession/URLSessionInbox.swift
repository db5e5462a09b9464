// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    import Foundation

    /// The buffered pieces of a body, and the readers that wait for more. This type only manages the state: the
    /// exchange protects the state with its lock, and resumes the readers that the methods return.
    struct URLSessionInbox {
        typealias Reader = CheckedContinuation<Data?, any Error>

        enum Arrival {
            case held
            case wanted(Reader)
            case overflow
        }

        private var pieces: [Data] = []
        /// The number of taken pieces at the start of the list.
        private var taken = 0
        /// The waiting readers, in order. Several tasks may read one body.
        private var readers: [Reader] = []
        private var end: Result<Data?, any Error>?
        private(set) var heldBytes = 0
        /// Whether the task is suspended until the reader has caught up.
        private var isResting = false

        /// Adds a piece, for a waiting reader or for the buffer. Adds nothing if the buffer is full.
        mutating func add(_ data: Data, limit: Int) -> Arrival {
            if !readers.isEmpty { return .wanted(readers.removeFirst()) }
            guard heldBytes + data.count <= limit else { return .overflow }
            heldBytes += data.count
            pieces.append(data)
            return .held
        }

        /// Returns the next piece or the end. If the reader has to wait, adds it to the waiting readers and returns
        /// nil.
        mutating func ask(_ reader: Reader) -> Result<Data?, any Error>? {
            guard taken < pieces.count else {
                if end == nil { readers.append(reader) }
                return end
            }
            let piece = pieces[taken]
            pieces[taken] = Data()
            taken += 1
            // Removing pieces one by one would move all others each time.
            if taken * 2 >= pieces.count {
                pieces.removeFirst(taken)
                taken = 0
            }
            heldBytes -= piece.count
            return .success(piece)
        }

        /// Returns true, only once, if the task must be suspended because more than `limit` bytes are buffered.
        mutating func beginsRest(above limit: Int) -> Bool {
            guard !isResting, heldBytes > limit else { return false }
            isResting = true
            return true
        }

        /// Returns true, only once, if a suspended task must be resumed because at most `limit` bytes are buffered.
        mutating func endsRest(upTo limit: Int) -> Bool {
            guard isResting, heldBytes <= limit else { return false }
            isResting = false
            return true
        }

        /// Notes the end, and returns all waiting readers. Only the first call has an effect.
        mutating func finish(_ result: Result<Data?, any Error>) -> [Reader] {
            if end == nil { end = result }
            defer { readers = [] }
            return readers
        }

        /// Returns all buffered pieces as one, or nil if there isn't enough memory.
        mutating func takeAll() -> Data? {
            defer { (pieces, taken, heldBytes) = ([], 0, 0) }
            let rest = pieces[taken...]
            if let only = rest.first, rest.count == 1 { return only }
            var bytes = GrowingBytes()
            for piece in rest { guard bytes.append(piece) else { return nil } }
            return bytes.take()
        }
    }
#endif

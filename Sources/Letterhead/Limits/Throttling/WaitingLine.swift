/// Who waits: the higher priority first, and within one priority whoever came first.
struct WaitingLine<Element> {
    /// The places of one priority; those left before their turn stay until they are passed or swept.
    private struct Row {
        let priority: Int
        var places: ArraySlice<UInt64> = []
    }

    private var elements: [UInt64: Element] = [:]
    private var rows: [Row] = []
    private var emptyPlaces = 0

    var count: Int { elements.count }
    var isEmpty: Bool { elements.isEmpty }

    /// Those who wait, in the order in which they will be served.
    var places: [UInt64] { rows.flatMap { $0.places.filter { elements[$0] != nil } } }

    /// How many would go before a newcomer of a priority.
    func count(from priority: Int) -> Int {
        rows.reduce(0) { count, row in
            row.priority < priority ? count : count + row.places.count { elements[$0] != nil }
        }
    }

    subscript(place: UInt64) -> Element? { elements[place] }

    mutating func join(_ element: Element, at place: UInt64, priority: Int) {
        elements[place] = element
        let row = rows.firstIndex { $0.priority <= priority } ?? rows.endIndex
        if row == rows.endIndex || rows[row].priority != priority { rows.insert(Row(priority: priority), at: row) }
        rows[row].places.append(place)
    }

    /// Leaves before the turn; nil when the turn has come already.
    mutating func leave(_ place: UInt64) -> Element? {
        guard let element = elements.removeValue(forKey: place) else { return nil }
        emptyPlaces += 1
        if emptyPlaces > elements.count + 16 { sweep() }
        return element
    }

    /// Whose turn it is, out of the line.
    mutating func next() -> Element? {
        while let row = rows.indices.first {
            while let place = rows[row].places.popFirst() {
                if let element = elements.removeValue(forKey: place) { return element }
                emptyPlaces -= 1
            }
            rows.remove(at: row)
        }
        return nil
    }

    private mutating func sweep() {
        for row in rows.indices { rows[row].places = ArraySlice(rows[row].places.filter { elements[$0] != nil }) }
        rows.removeAll { $0.places.isEmpty }
        emptyPlaces = 0
    }
}

extension HTTPError.Code {
    /// So many wait already that no more may; nothing was sent.
    public static let queueFull = Self(rawValue: "queueFull")
}

/// How the wait of a request ended.
enum TurnOutcome: Sendable {
    /// It is the request's turn.
    case turn
    /// The task was cancelled.
    case cancelled
    /// A reset sent everybody away.
    case reset
    /// The deadline passed, or would.
    case tooLate
    /// So many wait already.
    case full(Int)
    /// The link was given a setting that is none.
    case refused(String)

    /// Why there was no turn.
    func error(for request: HTTPRequest, waitingFor what: String) -> HTTPError {
        switch self {
        case .turn, .cancelled: HTTPError(.cancelled, request: request, mayHaveBeenSent: false)
        case .reset:
            HTTPError(
                .cancelled, request: request, message: "a reset ended the wait for \(what)", mayHaveBeenSent: false)
        case .tooLate: request.deadlinePassed(while: "waiting for \(what)", mayHaveBeenSent: false)
        case .full(let count):
            HTTPError(
                .queueFull, request: request, message: "\(count) requests wait for \(what) already",
                mayHaveBeenSent: false)
        case .refused(let rule): HTTPError(.invalidRequest, request: request, message: rule)
        }
    }
}

// SPDX-License-Identifier: MIT
/// A queue, ordered by priority, and by arrival within a priority.
package struct WaitingLine<Element> {
    /// The places of one priority. A place identifies an element. The place of a removed element stays until it is
    /// reached or a sweep removes it.
    private struct Row {
        let priority: Int
        var places: ArraySlice<UInt64> = []
    }

    private var elements: [UInt64: Element] = [:]
    private var rows: [Row] = []
    private var emptyPlaces = 0

    package init() {}

    package var count: Int { elements.count }
    var isEmpty: Bool { elements.isEmpty }

    /// Returns the number of elements that would precede a new element with this priority.
    package func count(from priority: Int) -> Int {
        rows.reduce(0) { count, row in
            row.priority < priority ? count : count + row.places.count { elements[$0] != nil }
        }
    }

    package mutating func join(_ element: Element, at place: UInt64, priority: Int) {
        elements[place] = element
        let row = rows.firstIndex { $0.priority <= priority } ?? rows.endIndex
        if row == rows.endIndex || rows[row].priority != priority { rows.insert(Row(priority: priority), at: row) }
        rows[row].places.append(place)
    }

    /// Removes an element before its turn. Nil if it was already removed.
    package mutating func leave(_ place: UInt64) -> Element? {
        guard let element = elements.removeValue(forKey: place) else { return nil }
        emptyPlaces += 1
        if emptyPlaces > elements.count + 16 { sweep() }
        return element
    }

    /// Removes the elements that a closure accepts, and returns them in order.
    package mutating func removeAll(where isRemoved: (Element) -> Bool) -> [Element] {
        rows.flatMap(\.places).compactMap { place in elements[place].map(isRemoved) == true ? leave(place) : nil }
    }

    package mutating func next() -> Element? {
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

package struct QueuedRequest: Sendable {
    package let turn = OneShot<TurnOutcome>()
    package let request: HTTPRequest

    package init(_ request: HTTPRequest) { self.request = request }

    /// Waits until the turn is set. If the time limit passes, the calling task is cancelled or the client is reset,
    /// `end` is called. It removes the request from the queue and sets the outcome, unless the request has its turn
    /// already.
    package func wait(
        atMost limit: Duration?, on clock: any Clock<Duration>, end: @escaping @Sendable (TurnOutcome) -> Void
    ) async -> TurnOutcome {
        let remove = request.context.generation?.onEnd { end(.reset) }
        defer { remove?() }
        return await turn.value(within: limit, on: clock, onTimeout: { end(.tooLate) }, onCancel: { end(.cancelled) })
    }
}

extension HTTPError.Code {
    /// The queue of a throttle or a rate limit is full. Nothing was sent.
    public static let queueFull = Self(rawValue: "queueFull")
}

package enum TurnOutcome: Sendable {
    case turn
    case cancelled
    case reset
    /// The deadline passed, or would pass before the turn of the request.
    case tooLate
    /// This many requests already wait.
    case full(Int)
    case refused(String)

    package func error(for request: HTTPRequest, waitingFor what: String) -> HTTPError {
        switch self {
        case .turn, .cancelled: HTTPError(.cancelled, request: request, mayHaveBeenSent: false)
        case .reset:
            HTTPError(
                .cancelled, request: request, message: "a reset ended the wait for \(what)", mayHaveBeenSent: false)
        case .tooLate: request.deadlinePassed(while: "waiting for \(what)", mayHaveBeenSent: false)
        case .full(let count):
            HTTPError(
                .queueFull, request: request, message: "the queue is full: \(count) requests already wait for \(what)",
                mayHaveBeenSent: false)
        case .refused(let rule): HTTPError(.invalidRequest, request: request, message: rule)
        }
    }
}

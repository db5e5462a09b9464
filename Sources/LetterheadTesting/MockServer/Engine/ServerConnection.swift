// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// A connection, which parses requests and responds to them one after the other. Reading is in +Input, and responding
/// and sending in +Output.
///
/// The connection never blocks. ``advance()`` does everything that is possible now, and ``pollEvents`` returns the
/// events to wait for.
final class ServerConnection {
    // This type is a class because it has identity. Only the loop thread uses it.

    enum State {
        case open
        /// The output has ended. The server reads and discards further input, so that no reset overtakes the last
        /// response.
        case draining
        case closed
    }

    let number: Int
    let stream: any ServerStream
    let loop: ServerLoop
    var state = State.open
    var parser: RequestParser
    var output = OutputQueue()
    var exchange: Exchange?
    var inputEnded = false
    /// Whether the system currently accepts no output.
    var isBlocked = false
    /// A fault that stops reading and sending until the timer with this number fires. A stall also ends when the client
    /// disconnects.
    var hold: (number: Int, isStall: Bool)?
    var pace: Pace?
    var waits = 0
    var timer: Task<Void, Never>?
    private var reported = (received: 0, sent: 0)

    init(number: Int, stream: any ServerStream, loop: ServerLoop) {
        self.number = number
        self.stream = stream
        self.loop = loop
        parser = RequestParser(headLimit: loop.configuration.headLimit)
        loop.journal.change { $0.connections.append(MockServer.Connection(number: number)) }
    }

    /// Does everything that is possible now.
    func advance() {
        while state == .open, hold == nil, step() {}
        if state == .draining { drain() }
        reportTraffic()
    }

    /// Does one step. Returns false if every step has to wait.
    private func step() -> Bool {
        do {
            try send()
            guard state == .open, hold == nil else { return false }
            if try advanceExchange() { return true }
            if try receive() { return true }
        } catch let fault as RequestFault {
            refuse(fault)
            return true
        } catch {
            if (error as? SocketFailure)?.isReset != true { fail(error) }
            close(.byClient)
            return false
        }
        if inputEnded, exchange == nil, output.isEmpty { close(.byClient) }
        return false
    }

    /// Closes the connection. Cancels its timer and the task of its exchange.
    func close(_ ending: MockServer.Connection.Ending, withReset: Bool = false) {
        guard state != .closed else { return }
        state = .closed
        abandonExchange()
        timer?.cancel()
        reportTraffic()
        // The end is recorded before the client can see it. A test that has seen it therefore finds it in the record.
        record { $0.ending = ending }
        if withReset { stream.socket.releaseWithReset() } else { stream.socket.release() }
    }

    /// Cancels the exchange, because no more response bytes will be sent.
    func abandonExchange() {
        output.discard()
        guard let exchange else { return }
        exchange.task?.cancel()
        if exchange.stage != .answering { record(exchange.request) }
        self.exchange = nil
    }

    /// Changes the entry for this connection in the record.
    func record(_ change: (inout MockServer.Connection) -> Void) {
        loop.journal.change { change(&$0.connections[number - 1]) }
    }

    func record(_ request: MockServer.Request) {
        loop.journal.change { $0.requests.append(request) }
    }

    func fail(_ error: any Error) {
        let failure = MockServer.Failure(connection: number, request: exchange?.request, underlying: error)
        loop.journal.change { $0.failures.append(failure) }
    }

    private func reportTraffic() {
        let traffic = stream.traffic
        guard traffic != reported else { return }
        reported = traffic
        let security = stream.security
        record {
            $0.security = security
            $0.bytesReceived = traffic.received
            $0.bytesSent = traffic.sent
        }
    }
}

extension ServerConnection {
    #if canImport(Darwin)
        /// If any event is requested, `POLLHUP` reports that the client has closed its side.
        private static let peerEnded = Int16(POLLHUP)
    #else
        private static let peerEnded = Int16(0x2000)  // POLLRDHUP, which the headers define only with a feature macro
    #endif

    /// The events to wait for, or nil if nothing has to be polled.
    var pollEvents: Int16? {
        switch state {
        case .closed: return nil
        case .draining: return Int16(POLLIN)
        case .open:
            if let hold { return hold.isStall ? Self.peerEnded : 0 }
            let events = (wantsInput ? Int16(POLLIN) : 0) | (isBlocked ? Int16(POLLOUT) : 0)
            #if canImport(Darwin)
                // If the client has closed its side, `poll` would report this without end.
                if events == 0, inputEnded { return nil }
            #endif
            return events
        }
    }

    /// Handles the events that `poll` reports.
    func ready(_ events: Int16) {
        let isOver = events & Int16(POLLERR | POLLHUP | POLLNVAL) != 0
        let cannotRead = hold != nil || state == .open && !wantsInput && !isBlocked
        if isOver && cannotRead || hold != nil && events & Self.peerEnded != 0 { return close(.byClient) }
        advance()
    }
}

/// The limited speed of a connection, after a fault has slowed it down.
struct Pace {
    let bytes: Int
    let interval: Duration
    /// How many more bytes may pass in the current interval.
    var left: Int
}

extension ServerConnection {
    /// Applies the faults at a moment. Returns false if the connection can't proceed for now.
    func reach(_ moment: MockServer.Moment) -> Bool {
        while let effect = exchange?.takeFault(at: moment) {
            apply(effect)
            guard state == .open, hold == nil else { return false }
        }
        return true
    }

    private func apply(_ effect: MockServer.Effect) {
        switch effect {
        case .close:
            // If input were left unread, the system would send a reset (RST) instead of the end (FIN).
            while let count = try? stream.socket.receive(into: &loop.scratch), count > 0 {}
            close(.byServer)
        case .halfClose:
            endOutput()
        case .reset:
            close(.byServer, withReset: true)
        case .stall(let duration):
            waits += 1
            hold = (waits, isStall: true)
            if let duration { timer = loop.tick(after: duration, connection: number, wait: waits) }
        case .slow(let bytes, let interval):
            pace = Pace(bytes: max(1, bytes), interval: interval, left: max(1, bytes))
        }
    }

    /// Returns how many of `count` bytes may pass now. If the interval has none left, this starts a pause and returns
    /// nil.
    func allowance(_ count: Int) -> Int? {
        guard let pace else { return count }
        if pace.left > 0 { return min(count, pace.left) }
        waits += 1
        hold = (waits, isStall: false)
        timer = loop.tick(after: pace.interval, connection: number, wait: waits)
        return nil
    }

    /// Ends a pause or a stall when its time has passed.
    func tick(wait: Int) {
        guard state != .closed, hold?.number == wait else { return }
        hold = nil
        timer = nil
        if let bytes = pace?.bytes { pace?.left = bytes }
    }
}

/// A request in progress, and the response to it.
struct Exchange {
    enum Stage {
        /// The head has been read.
        case begun
        /// The body is being read.
        case body
        /// The body has been read. A fault may occur.
        case ended
        /// The request is recorded. The response is being created or sent.
        case answering
    }

    let head: RequestHead
    let answer: MockServer.Answer
    var stage = Stage.begun
    var request: MockServer.Request
    var faults: [MockServer.Fault]
    /// The task that runs the closure, or that iterates over response body chunks.
    var task: Task<Void, Never>?
    /// How chunks are framed in a streamed response body.
    var stream: ResponseEncoder.Stream?
    var streamed = 0
    /// Whether the connection closes after the response.
    var closes = false
    /// Whether the last response byte has been sent.
    var isAnswered = false

    init(head: RequestHead, request: MockServer.Request, answer: MockServer.Answer) {
        self.head = head
        self.request = request
        self.answer = answer
        faults = answer.faults
    }

    /// Whether at least half the body has arrived. True if the length isn't known.
    var isHalfRead: Bool {
        guard case .length(let length) = head.framing else { return true }
        return request.bodySize * 2 >= length
    }

    func hasFault(at moment: MockServer.Moment) -> Bool { faults.contains { $0.moment == moment } }

    /// Removes and returns the body. The caller appends bytes and puts it back.
    mutating func takeBody() -> Data {
        defer { request.body = Data() }
        return request.body
    }

    /// Removes and returns the first fault at a moment.
    mutating func takeFault(at moment: MockServer.Moment) -> MockServer.Effect? {
        guard let index = faults.firstIndex(where: { $0.moment == moment }) else { return nil }
        return faults.remove(at: index).effect
    }
}

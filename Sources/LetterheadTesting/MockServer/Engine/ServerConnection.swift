import Foundation

/// One connection, from its acceptance to its end: it reads requests, has them answered one after the other, and sends
/// the answers. Reading is in +Input, answering in +Answering, sending in +Output, faults are in +Faults.
///
/// It never waits: ``advance()`` moves everything that can move now, and says by ``pollEvents`` what it needs next.
final class ServerConnection {
    // A class, because it is one thing with a life of its own; only the loop's thread touches it.

    /// Where its life is.
    enum State {
        case open
        /// The output has ended; what the client still sends is read and thrown away, so that no reset overtakes the
        /// last answer.
        case draining
        case closed
    }

    /// Why nothing moves for now.
    enum Hold: Equatable {
        /// For a time, by the number of the wait.
        case pause(Int)
        /// Until the client leaves, or for a time.
        case stall(Int)

        var number: Int {
            switch self {
            case .pause(let number), .stall(let number): number
            }
        }
    }

    let number: Int
    let stream: any ServerStream
    let host: ServerHost
    var state = State.open
    var parser: RequestParser
    var output = OutputQueue()
    var exchange: Exchange?
    var inputEnded = false
    /// Whether the system takes no more output for now.
    var isBlocked = false
    var hold: Hold?
    var pace: Pace?
    var waits = 0
    var timer: Task<Void, Never>?
    private var reported = (received: 0, sent: 0)

    init(number: Int, stream: any ServerStream, host: ServerHost) {
        self.number = number
        self.stream = stream
        self.host = host
        parser = RequestParser(headLimit: host.configuration.headLimit)
        let number = number
        host.journal.change { $0.connections.append(MockServer.Connection(number: number)) }
    }

    /// Moves everything that can move now.
    func advance() {
        while state == .open, hold == nil, step() {}
        if state == .draining { drain() }
        reportTraffic()
    }

    /// One step of what there is to do; false when all of it waits for something.
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

    /// Ends the connection and everything that runs for it.
    func close(_ ending: MockServer.Connection.Ending, withReset: Bool = false) {
        guard state != .closed else { return }
        state = .closed
        abandonExchange()
        timer?.cancel()
        reportTraffic()
        // Before the client can see it, so that a test that has seen it finds it in the record.
        record { $0.ending = ending }
        if withReset { stream.socket.releaseWithReset() } else { stream.socket.release() }
    }

    /// Gives up the exchange: nobody will hear the rest of its answer.
    func abandonExchange() {
        output.discard()
        guard let exchange else { return }
        exchange.task?.cancel()
        if exchange.stage != .answering { record(exchange.request) }
        self.exchange = nil
    }

    /// Changes this connection's line in the record.
    func record(_ change: (inout MockServer.Connection) -> Void) {
        host.journal.change { change(&$0.connections[number - 1]) }
    }

    /// Adds a request to the record.
    func record(_ request: MockServer.Request) {
        let limit = host.configuration.keptRequests
        host.journal.change { if $0.requests.count < limit { $0.requests.append(request) } }
    }

    /// Adds a failure to the record.
    func fail(_ error: any Error) {
        let failure = MockServer.Failure(connection: number, request: exchange?.request, underlying: error)
        host.journal.change { $0.failures.append(failure) }
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

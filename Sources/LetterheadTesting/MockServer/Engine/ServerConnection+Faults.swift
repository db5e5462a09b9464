import Foundation

/// The speed of a connection that a fault has slowed down.
struct Pace {
    let bytes: Int
    let interval: Duration
    /// The number of bytes that may still be transferred in this interval.
    var left: Int
}

extension ServerConnection {
    /// Applies the faults of a moment. Returns false if the connection cannot proceed for now.
    func reach(_ moment: MockServer.Moment) -> Bool {
        while let effect = exchange?.takeFault(at: moment) {
            apply(effect)
            guard state == .open, hold == nil else { return false }
        }
        return true
    }

    private func apply(_ effect: MockServer.Effect) {
        switch effect.kind {
        case .close:
            // Unread input would turn the end (FIN) into a reset (RST).
            while let count = try? stream.socket.receive(into: host.scratch), count > 0 {}
            close(.byServer)
        case .halfClose:
            endOutput()
        case .reset:
            close(.byServer, withReset: true)
        case .stall(let duration):
            waits += 1
            hold = .stall(waits)
            if let duration { timer = host.tick(after: duration, connection: number, wait: waits) }
        case .slow(let bytes, let interval):
            pace = Pace(bytes: bytes, interval: interval, left: bytes)
        }
    }

    /// Returns how many of `count` bytes may be transferred now. If the interval is used up, it starts a pause and
    /// returns nil.
    func allowance(_ count: Int) -> Int? {
        guard let pace else { return count }
        if pace.left > 0 { return min(count, pace.left) }
        waits += 1
        hold = .pause(waits)
        timer = host.tick(after: pace.interval, connection: number, wait: waits)
        return nil
    }

    /// Ends a pause or a stall after its time has passed.
    func tick(wait: Int) {
        guard state != .closed, hold?.number == wait else { return }
        hold = nil
        timer = nil
        if let bytes = pace?.bytes { pace?.left = bytes }
        advance()
    }
}

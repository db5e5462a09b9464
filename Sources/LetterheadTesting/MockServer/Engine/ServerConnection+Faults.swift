import Foundation

/// How fast a connection may move, after a fault that makes it slow.
struct Pace {
    let bytes: Int
    let interval: Duration
    /// What may still move before the next interval.
    var left: Int
}

extension ServerConnection {
    /// Lets the faults of a moment strike; false when nothing goes on for now.
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
            // Unread input would turn the end into a reset.
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

    /// How many of so many bytes may move now; nil, and a pause, when it is none.
    func allowance(_ count: Int) -> Int? {
        guard let pace else { return count }
        if pace.left > 0 { return min(count, pace.left) }
        waits += 1
        hold = .pause(waits)
        timer = host.tick(after: pace.interval, connection: number, wait: waits)
        return nil
    }

    /// Time has passed.
    func tick(wait: Int) {
        guard state != .closed, hold?.number == wait else { return }
        hold = nil
        timer = nil
        if let bytes = pace?.bytes { pace?.left = bytes }
        advance()
    }
}

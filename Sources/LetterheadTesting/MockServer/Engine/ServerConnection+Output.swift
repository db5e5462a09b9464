// SPDX-License-Identifier: MIT
import LetterheadFoundation

extension ServerConnection {
    /// Sends the queued segments, until the system accepts no more bytes or a fault holds the connection.
    func send() throws {
        isBlocked = false
        while state == .open, hold == nil, let segment = output.next {
            switch segment {
            case .bytes(let bytes):
                guard try send(bytes) else { return }
            default:
                // Segments after bytes wait until all the bytes have been sent.
                try stream.flush()
                isBlocked = stream.hasUnsentBytes
                if isBlocked { return }
                guard pass(segment) else { return }
            }
        }
        if state == .open, stream.hasUnsentBytes {
            try stream.flush()
            isBlocked = stream.hasUnsentBytes
        }
    }

    /// Sends some bytes. Returns false if no more can be sent now.
    private func send(_ bytes: Data) throws -> Bool {
        guard let limit = allowance(bytes.count) else { return false }
        let sent = try stream.transmit(bytes.prefix(limit))
        pace?.left -= sent
        output.dropBytes(sent)
        isBlocked = sent < limit
        return !isBlocked
    }

    /// Handles a segment that has no bytes. Returns false if a fault holds the connection.
    private func pass(_ segment: OutputQueue.Segment) -> Bool {
        if case .moment(let moment) = segment {
            if moment == .responseEnd { countResponse() }
            guard reach(moment) else { return false }
        }
        output.removeFirst()
        switch segment {
        case .bytes, .moment: break
        case .resume(let continuation): continuation.resume()
        case .answered: finishAnswer()
        case .goodbye: endOutput()
        }
        return true
    }

    private func countResponse() {
        guard exchange?.isAnswered == false else { return }
        exchange?.isAnswered = true
        record { $0.responses += 1 }
    }

    /// Ends the output. The connection still reads its input to the end.
    func endOutput() {
        stream.endOutput()
        abandonExchange()
        state = .draining
    }
}

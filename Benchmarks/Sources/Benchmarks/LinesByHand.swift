// SPDX-License-Identifier: MIT
import Foundation

/// Lines that are found with `memchr`: the floor of the benchmarks of lines, events and values.
struct LinesByHand {
    /// The beginning of a line that the next piece continues.
    private var rest = Data()

    /// Returns the number of bytes of the lines that end in a piece, with their endings. A string is made of each.
    mutating func count(_ piece: Data) -> Int {
        var count = 0
        forEach(in: piece) { count += String(decoding: $0, as: UTF8.self).utf8.count + 1 }
        return count
    }

    /// Calls a closure with each line that ends in a piece.
    @inline(__always)
    mutating func forEach(in piece: Data, _ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        try piece.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            var start = 0
            while start < bytes.count, let end = memchr(base + start, 10, bytes.count - start) {
                let offset = base.distance(to: UnsafeRawPointer(end))
                let line = UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
                if rest.isEmpty {
                    try body(line)
                } else {
                    rest.append(contentsOf: line)
                    try rest.withUnsafeBytes { try body($0) }
                    rest.removeAll()
                }
                start = offset + 1
            }
            rest.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start...]))
        }
    }
}

/// Server-sent events that a hand-written loop reads: the three fields that the benchmark sends, without the rules of
/// the standard for carriage returns, several lines of data and comments.
struct EventsByHand {
    private var lines = LinesByHand()
    private var (id, event, data) = ("", "message", "")

    /// Returns the number of the events that end in a piece.
    mutating func count(_ piece: Data) -> Int {
        var (count, id, event, data) = (0, id, event, data)
        lines.forEach(in: piece) { line in
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
                if line.isEmpty, !data.isEmpty { (count, event, data) = (count + 1, "message", "") }
                return
            }
            let value = String(decoding: line[(colon + 2)...], as: UTF8.self)
            switch String(decoding: line[..<colon], as: UTF8.self) {
            case "id": id = value
            case "event": event = value
            case "data": data = value
            default: break
            }
        }
        (self.id, self.event, self.data) = (id, event, data)
        return count
    }
}

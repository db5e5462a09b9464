// SPDX-License-Identifier: MIT
@testable import Letterhead

/// What a `ResponseReader` makes of the bytes on a connection.
struct ReadResponse: Equatable, CustomStringConvertible {
    /// Each interim head, then the head.
    var heads: [String] = []
    var body = ""
    var trailers = ""
    /// "end" or "end, close" for a complete response, "more" for an incomplete one, or the failure.
    var outcome = "more"
    /// The bytes that follow the response.
    var excess = 0

    var description: String { "\(heads) \(body.debugDescription) \(trailers.debugDescription) \(outcome) +\(excess)" }

    /// Reads bytes that arrive in pieces.
    ///
    /// - Parameters:
    ///   - cuts: where a piece ends, in ascending order.
    ///   - isClosed: whether the connection ends after the bytes.
    ///   - isRefusing: whether each piece of the body is refused the first time, and passed again with what follows.
    init(
        _ bytes: [UInt8], cuts: [Int] = [], isHead: Bool = false, limit: Int = 256 << 10, isClosed: Bool = false,
        isRefusing: Bool = false
    ) {
        var reader = ResponseReader(limit: limit, isSecure: true)
        reader.begin(isHead: isHead)
        self.init(bytes, cuts: cuts, isClosed: isClosed, isRefusing: isRefusing, reader: &reader)
    }

    init(
        _ bytes: [UInt8], cuts: [Int] = [], isClosed: Bool = false, isRefusing: Bool = false,
        reader: inout ResponseReader
    ) {
        var (lines, body): ([UInt8], [UInt8]) = ([], [])
        do throws(TransportFailure) {
            var start = 0
            for end in cuts + [bytes.count] {
                try take(Array(bytes[start..<end]), &reader, &lines, &body, isRefusing)
                start = end
            }
            if isClosed { try reader.finish() }
            if reader.isComplete {
                outcome = reader.mayReuse ? "end" : "end, close"
                trailers = String(decoding: lines, as: UTF8.self)
            }
        } catch {
            outcome = error.message
        }
        self.body = String(decoding: body, as: UTF8.self)
    }

    private mutating func take(
        _ piece: [UInt8], _ reader: inout ResponseReader, _ lines: inout [UInt8], _ body: inout [UInt8],
        _ isRefusing: Bool
    ) throws(TransportFailure) {
        try piece.withUnsafeBufferPointer { piece throws(TransportFailure) in
            var (rest, isRefused) = (UnsafeRawBufferPointer(piece), false)
            while true {
                switch try reader.next(&rest, lines: &lines) {
                case .needsMore: return
                case .interim, .head:
                    heads.append(String(decoding: lines, as: UTF8.self))
                    lines = []
                case .body(let bytes):
                    isRefused = isRefusing && !isRefused
                    if isRefused {
                        reader.unread(bytes.count)
                        rest = UnsafeRawBufferPointer(start: bytes.baseAddress, count: bytes.count + rest.count)
                    } else {
                        body += bytes
                    }
                case .end: return excess += rest.count
                }
            }
        }
    }
}

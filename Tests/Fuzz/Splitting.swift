// SPDX-License-Identifier: MIT
#if DEBUG
    import Foundation
    @testable import Letterhead
    @testable import LetterheadStreaming

    extension EventStreamParser {
        /// Parses a stream in memory in chunks of one size, and returns all its events. It throws a stream's errors.
        static func events(in bytes: [UInt8], piecesOf size: Int, limit: Int) throws -> [ServerSentEvent] {
            var parser = EventStreamParser(limit: limit)
            var events: [ServerSentEvent] = []
            for start in stride(from: 0, to: bytes.count, by: max(size, 1)) {
                parser.append(Data(bytes[start..<min(start + max(size, 1), bytes.count)]))
                while let event = try parser.next() { events.append(event) }
            }
            return events
        }
    }

    extension JSONValueSplitter {
        /// Splits a body in memory in chunks of one size, and returns its encoded values up to the first error.
        static func texts(
            in bytes: [UInt8], format: HTTPResponseBody.JSONFormat, piecesOf size: Int, limit: Int
        ) -> (texts: [Data], isWhole: Bool) {
            var splitter = JSONValueSplitter(Format(format, for: .json), limit: limit)
            var texts: [Data] = []
            do {
                for start in stride(from: 0, to: bytes.count, by: max(size, 1)) {
                    splitter.append(Data(bytes[start..<min(start + max(size, 1), bytes.count)]))
                    while let text = try splitter.next() { texts.append(text) }
                }
                if let last = try splitter.end() { texts.append(last) }
                return (texts, true)
            } catch {
                return (texts, false)
            }
        }
    }
#endif

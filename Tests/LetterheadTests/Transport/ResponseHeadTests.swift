// SPDX-License-Identifier: MIT
import TestKit
import Testing

@testable import Letterhead

/// Heads as a server writes them, good or bad.
struct ResponseHeadTests {
    private func head(_ fields: String) throws -> ResponseHead {
        try ResponseHead(Array("HTTP/1.1 200 OK\r\n\(fields)\r\n".utf8))
    }

    @Test func `a folded value is one value, with a space between its parts`() throws {
        let headers = try head("A: 1\r\n 2\r\n\t 3 \r\nB: 4\r\nA: 5\r\n  \r\n 6\r\n").headers
        #expect(headers.values(for: "A") == ["1 2 3", "5 6"])
        #expect(headers["B"] == "4")
    }

    @Test(arguments: [" folded\r\n", "A: 1\r\n \u{0}\r\n"])
    func `a fold without a field, or with a bad byte, is an error`(fields: String) {
        #expect(throws: TransportFailure.self) { try head(fields) }
    }

    @Test(arguments: [" x\r\n", "A: 1\r\n", "Content-Length: 5\r\n", "A: 1\r\n x\r\n"])
    func `the time for a head grows with its size`(line: String) throws {
        #expect(
            try growth(of: 60_000) { size in
                _ = try head("A: 1\r\n" + String(repeating: line, count: size / line.utf8.count))
            } < 8)
    }
}

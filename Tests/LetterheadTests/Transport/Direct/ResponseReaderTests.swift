// SPDX-License-Identifier: MIT
import TestKit
import Testing

@testable import Letterhead

/// Responses of HTTP/1.1 (RFC 9112), whole and malformed, in pieces of any size.
struct ResponseReaderTests {
    private static let ok = "HTTP/1.1 200 OK\r\n"

    struct Row: CustomTestStringConvertible {
        var text: String
        var isHead = false
        var body = ""
        var trailers = ""
        var outcome = "end"
        var excess = 0
        var testDescription: String { text.debugDescription }

        init(
            _ text: String, isHead: Bool = false, body: String = "", trailers: String = "", _ outcome: String = "end",
            excess: Int = 0
        ) {
            (self.text, self.isHead, self.body, self.trailers) = (text, isHead, body, trailers)
            (self.outcome, self.excess) = (outcome, excess)
        }
    }

    private static let chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"

    static let whole: [Row] = [
        // Lengths.
        Row(ok + "Content-Length: 5\r\n\r\nhello", body: "hello"),
        Row(ok + "content-LENGTH:\t5 \r\nContent-Length: 5, 5\r\n\r\nhello", body: "hello"),
        Row(ok + "Content-Length: 0\r\n\r\n"),
        Row(ok + "Content-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n", body: "ok", excess: 19),
        // Chunks.
        Row(chunked + "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", body: "hello world"),
        Row(chunked + "00000000000000A;a=b;c=\"d;\u{E9}\"\r\n0123456789\r\n000;x\r\n\r\n", body: "0123456789"),
        Row(chunked + "2 \t\r\nok\r\n0\r\n\r\n!", body: "ok", excess: 1),
        Row(ok + "transfer-encoding:\tCHUNKED \r\n\r\n1 ; a\r\n\n\r\n0\r\n\r\n", body: "\n"),
        Row(chunked + "0\r\nX: 1\r\nContent-Length: 7\r\n\r\n", trailers: "X: 1\r\nContent-Length: 7\r\n"),
        Row("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n0\r\n\r\n", "end, close"),
        // The end of the connection.
        Row(ok + "\r\nuntil the end", body: "until the end", "end, close"),
        Row("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nx", body: "x", "end, close"),
        Row(ok + "\r\n", "end, close"),
        Row(ok + "Connection:\r\n close\r\nContent-Length: 0\r\n\r\n", "end, close"),
        // No body, whatever the head declares.
        Row(ok + "Content-Length: 5000000000\r\n\r\n", isHead: true),
        Row(ok + "Transfer-Encoding: chunked\r\n\r\n", isHead: true),
        Row(ok + "\r\nx", isHead: true, excess: 1),
        Row("HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", excess: 5),
        Row("HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n"),
        Row("HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\n\r\nPRI", "end, close", excess: 3),
        // Interim responses.
        Row("HTTP/1.1 100 Continue\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nok", body: "ok"),
        Row("HTTP/1.1 103 x\r\nContent-Length: 9\r\nA: b\r\n\r\nHTTP/1.1 199\r\n\r\n" + ok + "\r\n", isHead: true),
        // Persistence.
        Row(ok + "Connection: x, Close\r\nContent-Length: 0\r\n\r\n", "end, close"),
        Row(ok + "Connection: keep-alive\r\nconnection:close\r\nContent-Length: 0\r\n\r\n", "end, close"),
        Row(ok + "Connection: closed, x-close\r\nContent-Length: 0\r\n\r\n"),
        Row("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", "end, close"),
        Row("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n"),
        // What is harmless.
        Row(
            "HTTP/1.1 200\r\nX-Near:v\r\nX-Tab:\t  \t\r\nX-Fold: a\r\n  b\r\n \r\nX: \u{E9}\u{1B}\r\nContent-Length: 0\r\n\r\n"
        ),
        Row("HTTP/1.1 200 OK\nContent-Length: 2\n\nok", body: "ok"),
        Row("HTTP/1.1  999 \r\nContent-Length: 0\r\n\r\n"),
        Row(chunked + "0\r\nX: 1\n\n", trailers: "X: 1\n"),
    ]

    @Test(arguments: whole)
    func `a response is read the same wherever it is cut`(row: Row) {
        let bytes = Array(row.text.utf8)
        let isClosed = row.outcome == "end, close" && row.excess == 0
        func read(_ cuts: [Int], isRefusing: Bool = false) -> ReadResponse {
            ReadResponse(bytes, cuts: cuts, isHead: row.isHead, isClosed: isClosed, isRefusing: isRefusing)
        }
        let response = read([])
        #expect(response.body == row.body && response.trailers == row.trailers, "\(response)")
        #expect(response.outcome == row.outcome && response.excess == row.excess, "\(response)")
        // Only the empty lines after the heads and the framing of the body are missing.
        #expect(row.text.contains(response.heads.joined(separator: row.text.contains("\r\n") ? "\r\n" : "\n")))
        for cut in 0...bytes.count {
            #expect(read([cut]) == response)
            #expect(read([cut], isRefusing: true) == response)
        }
        #expect(read(Array(1..<bytes.count)) == response)
        #expect(read(Array(1..<bytes.count), isRefusing: true) == response)
    }

    @Test(arguments: whole)
    func `a truncated response is an error that names the truncated part`(row: Row) throws {
        let bytes = Array(row.text.utf8.dropLast(row.excess))
        let endsWithConnection = row.outcome == "end, close" && !row.text.contains("Content-Length: 0")
        let heads = ReadResponse(bytes, isHead: row.isHead).heads.count
        let size = (0...bytes.count).first {
            ReadResponse(Array(bytes.prefix($0)), isHead: row.isHead).heads.count == heads
        }
        let head = try #require(size)
        for count in 0..<bytes.count where count < head || !endsWithConnection || row.text.contains("chunked") {
            let response = ReadResponse(Array(bytes.prefix(count)), isHead: row.isHead, isClosed: true)
            // An interim response and a part of a status line are no response.
            let text = String(decoding: bytes.prefix(count), as: UTF8.self).replacing("\r\n", with: "\n")
            let isInHead = text.split(separator: "\n\n", omittingEmptySubsequences: false).last?.contains("\n") == true
            let expected =
                count >= head
                ? "the response is truncated"
                : isInHead
                    ? "the connection was closed before the head of the response was complete"
                    : "the server closed the connection without a response"
            #expect(response.outcome == expected, "\(count) bytes: \(response)")
        }
    }

    private static let (name, value) = (
        "a header name is not a token of RFC 9110", "a header value contains NUL or a bare CR"
    )
    private static let (status, http, http2) = (
        "the status line is malformed", "the response is not HTTP, or has an unsupported version of HTTP",
        "the status line claims HTTP/2 on an HTTP/1.1 connection"
    )
    private static let (lengths, both, coding) = (
        "the Content-Length fields disagree or are not numbers",
        "the response has a Content-Length and a Transfer-Encoding",
        "the response has a transfer coding that the request did not offer"
    )
    private static let (folded, framing, chunks) = (
        "the first header line begins with a space or a tab",
        "a header field that frames the body is folded",
        "the response's chunks are malformed"
    )

    static let statusLines: [(String, String)] = [
        ("Good morning", http), ("\u{0}\u{1}\u{2}\u{3}", http), ("\r\n\r\n", http), ("HTTP/7.0 200 OK", http2),
        ("HTTP/2.0 200 OK", http2), ("HTTP/2 200", http2), ("HTTP/3 200 ", http2), ("HTTP/1.2 200 OK", http),
        ("HTTP/0.9 200 OK", http), ("ICY 200 OK", http), (" HTTP/1.1 200 OK", http), ("http/1.1 200 OK", http),
        ("HTTP/1.1\t200 OK", http), ("HTTP 200 OK", http), ("HTTP/11 200 OK", http), ("HTTP/1.10 200 OK", http),
        ("HTTP/ 1.1 200 OK", http), ("HTTP/1.1", http), ("HTTP/1.1 ", status), ("HTTP/1.1 2000 OK", status),
        ("HTTP/1.1 20 OK", status), ("HTTP/1.1 099 OK", status), ("HTTP/1.1 -20 OK", status),
        ("HTTP/1.1 abc OK", status), ("HTTP/1.1 200OK", status), ("HTTP/1.1 200\tOK", status),
        ("HTTP/1.1 200 \u{0}", status), ("HTTP/1.1 200 O\rK", status), ("HTTP/1.1 200 OK\r", status),
        ("HTTP/1.1 10", status), ("\u{16}\u{3}\u{1}", http), ("<html>", http),
    ]

    static let fields: [(String, String)] = [
        ("X Y: 1", name), ("X-Space : v", name), ("no colon", name), (": no name", name), ("X\u{E9}: 1", name),
        ("X-Frame\r-Options: v", name), ("\u{0}: 1", name), ("X: a\u{0}b", value), ("X: a\rb", value),
        ("X: a\r", value), (" X-Two: v", folded), ("\tX: v", folded), ("A: 1\r\n b\u{0}", value),
        ("A: 1\r\n b\rX: c", value), ("Content-Length: 5\r\nContent-Length: 6", lengths),
        ("Content-Length: 5, 6", lengths), ("Content-Length: five", lengths), ("Content-Length: -5", lengths),
        ("Content-Length: +5", lengths), ("Content-Length: 0x5", lengths), ("Content-Length: ", lengths),
        ("Content-Length: 5 5", lengths), ("Content-Length: 99999999999999999999999", lengths),
        ("Content-Length: 9223372036854775808", lengths), ("Content-Length: \u{661}", lengths),
        ("Content-Length:\r\n 5", lengths), ("Content-Length: 5\r\n\t5", framing),
        ("Content-Length: 0\r\nTransfer-Encoding: chunked", both), ("Content-Length : 5", name),
        ("Transfer-Encoding: chunked\r\nContent-Length: 00", both),
        ("Transfer-Encoding: chunked\r\nContent-Length: 5", both), ("Transfer-Encoding : chunked", name),
        ("Transfer-Encoding: gzip", coding), ("Transfer-Encoding: gzip, chunked", coding),
        ("Transfer-Encoding: chunked, gzip", coding), ("Transfer-Encoding: chunked, chunked", coding),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", coding), ("Transfer-Encoding: xchunked", coding),
        ("Transfer-Encoding: identity", coding), ("Transfer-Encoding: chunked;a", coding),
        ("Transfer-Encoding: \"chunked\"", coding), ("Transfer-Encoding:", coding), ("Transfer-Encoding: ,", coding),
        ("Transfer-Encoding: chunked,", coding), ("Transfer-Encoding: \u{B}chunked", coding),
        ("Transfer-Encoding:\r\n chunked", coding), ("Transfer-Encoding: chunked\r\n , gzip", framing),
        ("Transfer\u{212A}Encoding: chunked", name),
    ]

    static let badChunks: [String] = [
        "zz\r\nshort\r\n", "\r\n", "\n", " 5\r\nhello\r\n", "0x5\r\nhello\r\n", "+5\r\nhello\r\n", "-1\r\n",
        "5\nhello\r\n", "5\rhello\r\n", "5\r\r\nhello\r\n", "5\r\nhello\n", "5\r\nhello\r0\r\n", "5\r\nhello!\r\n",
        "5\r\nhello0\r\n\r\n", "5\r\nhell\r\n0\r\n\r\n", "5 5\r\nhello", "5 x\r\nhello", "5_\r\nhello",
        "5;a\nhello\r\n0\r\n\r\n", "5;\n\r\nhello", "5;a=\"\r\n\"\r\nhello\r\n", "5;a\rb\r\nhello", "5;\u{0}\r\nhello",
        "5\u{B}\r\nhello", "5,5\r\nhello", "\u{FF11}\r\n.", "00000000000000005\r\nhello\r\n", "8000000000000000\r\n",
        "FFFFFFFFFFFFFFFF\r\n", "10000000000000005\r\nhello\r\n", "5\r\nhello\r\n;\r\n\r\n", "5\r\nhello\r\n \r\n\r\n",
        ";a\r\n\r\n", "0\n\r\n", "0\r\r\n\r\n",
    ]

    /// Each fault with the bytes that have it.
    private static var hostile: [Row] {
        var rows = statusLines.map { Row($0.0 + "\r\nContent-Length: 2\r\n\r\nok", $0.1) }
        for (lines, fault) in fields {
            rows.append(Row(ok + lines + "\r\n\r\nhello", fault))
            if fault == name || fault == value || fault == folded {
                rows.append(Row(chunked + "0\r\n" + lines + "\r\n\r\n", fault))
                rows.append(Row("HTTP/1.1 103 Early Hints\r\n" + lines + "\r\n\r\n" + ok + "\r\n", fault))
            }
        }
        return rows + badChunks.map { Row(chunked + $0, chunks) }
    }

    @Test func `a fault of the framing is found at the end of its line`() {
        for (lines, fault) in Self.fields where [Self.lengths, Self.both, Self.coding].contains(fault) {
            #expect(ReadResponse(Array((Self.ok + lines + "\r\n").utf8)).outcome == fault, "\(lines)")
        }
    }

    @Test func `a first line that is not HTTP is reported as that, however long it is and wherever it is cut`() {
        let bytes = Array(String(repeating: "x", count: 200).utf8)
        for (bytes, cuts) in [(bytes, []), (bytes, [5]), (bytes + [0x0A], []), (bytes + [0x0A], [150])] {
            #expect(ReadResponse(bytes, cuts: cuts, limit: 100).outcome == Self.http)
        }
    }

    @Test(arguments: hostile)
    func `what another parser could read as a different message is an error wherever it is cut`(row: Row) {
        let (bytes, fault) = (Array(row.text.utf8), row.outcome)
        let response = ReadResponse(bytes)
        #expect(response.outcome == fault)
        for cut in 1..<bytes.count { #expect(ReadResponse(bytes, cuts: [cut]).outcome == fault, "cut at \(cut)") }
        #expect(ReadResponse(bytes, cuts: Array(1..<bytes.count)) == response)
    }

    @Test func `the largest chunk and the largest length are read as far as they arrive`() {
        for framing in [
            "Content-Length: 9223372036854775807\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n",
        ] {
            let response = ReadResponse(Array((Self.ok + framing + "some").utf8), isClosed: true)
            #expect(response.body == "some" && response.outcome == "the response is truncated")
        }
    }

    @Test func `a server that does not speak HTTP is not waited for`() {
        for text in ["G", "HTTP", "HTTP/", "HTTQ", "SSH-2.0-x"] {
            let isHTTP = "HTTP/".hasPrefix(text)
            #expect(ReadResponse(Array(text.utf8)).outcome == (isHTTP ? "more" : Self.http))
        }
        var reader = ResponseReader(limit: 1000, isSecure: false)
        reader.begin(isHead: false)
        #expect(ReadResponse(Array("\u{15}\u{3}".utf8), reader: &reader).outcome.contains("write https"))
    }

    @Test func `responses follow each other on a connection`() {
        var reader = ResponseReader(limit: 100, isSecure: true)
        for _ in 0..<3 {
            #expect(!reader.hasBegun || reader.isComplete)
            reader.begin(isHead: false)
            #expect(!reader.hasBegun && !reader.isComplete && !reader.mayReuse)
            let text = Self.chunked + "2\r\nok\r\n0\r\nX: 1\r\n\r\n"
            let response = ReadResponse(Array(text.utf8), reader: &reader)
            #expect(response.body == "ok" && response.trailers == "X: 1\r\n" && response.outcome == "end")
            #expect(reader.hasBegun && reader.mayReuse && reader.rules.status == 200)
        }
    }

    @Test(arguments: [
        ok + "X: \(String(repeating: "x", count: 100))\r\n\r\n", ok + String(repeating: "X: 1\r\n", count: 20),
        ok + String(repeating: "x", count: 100), String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 5),
        chunked + "0\r\nX: \(String(repeating: "x", count: 60))\r\n\r\n",
        chunked + "7fffffffffffffff;\(String(repeating: "x", count: 500))",
        chunked + "1;\(String(repeating: "x", count: 100))\r\n", chunked + "1\(String(repeating: " ", count: 100))\r\n",
        chunked + String(repeating: "1;extensions\r\nx\r\n", count: 10),
    ])
    func `heads, trailers and chunk extensions have one limit`(text: String) {
        let bytes = Array(text.utf8)
        let fault =
            "the head of the response is larger than the 100 bytes allowed (to allow more, raise maximumHeadSize)"
        for cuts in [[], [50], [100], Array(1..<bytes.count)] {
            #expect(ReadResponse(bytes, cuts: cuts, limit: 100).outcome == fault)
        }
    }

    @Test func `a head as large as the limit is read`() {
        let text = Self.ok + "X: 1\r\n\r\n"
        let bytes = Array((text + "body").utf8)
        #expect(ReadResponse(bytes, limit: text.utf8.count).body == "body")
        #expect(ReadResponse(bytes, limit: text.utf8.count - 1).body.isEmpty)
    }

    @Test func `small extensions of a large body do not count`() {
        let text = Self.chunked + String(repeating: "4;a=b\r\nbody\r\n", count: 1000) + "0\r\n\r\n"
        #expect(ReadResponse(Array(text.utf8), limit: 100).outcome == "end")
    }

    @Test(arguments: ["X", "X: 1\r\n", "A: b\r\n c\r\n", "chunks", "extension"], [1, 7, 4096])
    func `the time for a response grows with its size`(piece: String, size: Int) throws {
        let growth = growth(of: 20_000) { count in
            let text: String =
                switch piece {
                case "chunks": Self.chunked + String(repeating: "1\r\nx\r\n", count: count / 6)
                case "extension": Self.chunked + "1;" + String(repeating: "x", count: count)
                default: Self.ok + "X: 1\r\n" + String(repeating: piece, count: count / piece.utf8.count)
                }
            let cuts = Array(stride(from: size, to: text.utf8.count, by: size))
            _ = ReadResponse(Array(text.utf8), cuts: cuts)
        }
        #expect(growth < 8)
    }
}

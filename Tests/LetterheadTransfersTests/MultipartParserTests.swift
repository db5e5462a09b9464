// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
@testable import LetterheadTransfers
import Synchronization
import TestKit
import Testing

/// A part that was read to its end.
struct ReadPart: Sendable, Hashable {
    var fields: [String]
    var body: String

    init(_ body: String, _ fields: String...) { (self.fields, self.body) = (fields, body) }

    init(_ part: ResponsePart) async throws {
        fields = part.headers.map { "\($0.name.rawValue): \($0.value)" }
        body = String(decoding: try await part.body.data(), as: UTF8.self)
    }
}

extension HTTPResponse {
    /// A multipart response that arrives in pieces.
    static func multipart(_ pieces: [Data], type: String = "multipart/mixed; boundary=b") -> HTTPResponse {
        let left = Mutex(pieces[...])
        return HTTPResponse(
            request: HTTPRequest(), status: .ok, headers: ["Content-Type": type],
            body: HTTPResponseBody(length: nil, pull: { left.withLock { $0.popFirst() } }))
    }

    static func multipart(_ text: String, type: String = "multipart/mixed; boundary=b") -> HTTPResponse {
        multipart([Data(text.utf8)], type: type)
    }
}

extension AsyncSequence where Element == ResponsePart, Self: Sendable {
    /// The parts before the end or an error, and the error.
    func readAll() async -> (parts: [ReadPart], error: (any Error)?) {
        var all: [ReadPart] = []
        do {
            for try await part in self { all.append(try await ReadPart(part)) }
            return (all, nil)
        } catch {
            return (all, error)
        }
    }
}

/// RFC 2046, 5.1.1, wherever a body is cut into pieces.
@Suite(.timeLimit(.minutes(2))) struct MultipartParserTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        var type = "multipart/mixed; boundary=b"
        let parts: [ReadPart]

        init(_ name: String, _ text: String, type: String? = nil, _ parts: [ReadPart]) {
            (testDescription, self.text, self.parts) = (name, text, parts)
            if let type { self.type = type }
        }

        /// The bytes in pieces of each size up to 9, and in two pieces that are cut at each position.
        var divisions: [[Data]] {
            let bytes = Data(text.utf8)
            let sized = (1..<10).map { size in
                stride(from: 0, to: bytes.count, by: size).map { Data(bytes[$0..<min($0 + size, bytes.count)]) }
            }
            return sized + (0...bytes.count).map { [Data(bytes[..<$0]), Data(bytes[$0...])] }
        }
    }

    static let vectors: [Vector] = [
        Vector(
            "two parts", "--b\r\nContent-Type: text/plain\r\nContent-ID: <1>\r\n\r\none\r\n--b\r\n\r\ntwo\r\n--b--\r\n",
            [ReadPart("one", "Content-Type: text/plain", "Content-ID: <1>"), ReadPart("two")]),
        Vector(
            "a preamble and an epilogue", "a\r\nb--b\r\n--b\r\n\r\none\r\n--b--\r\n--b\r\n\r\nno part\r\n--b--",
            [ReadPart("one")]),
        Vector("an empty line before the first delimiter", "\r\n--b\r\n\r\none\r\n--b--", [ReadPart("one")]),
        Vector("no part", "--b--\r\n", []),
        Vector("no part and no line break", "--b--", []),
        Vector("no line break at the end", "--b\r\n\r\none\r\n--b--", [ReadPart("one")]),
        Vector("CR at the end", "--b\r\n\r\none\r\n--b--\r", [ReadPart("one")]),
        Vector(
            "blanks after delimiters", "--b \t\r\n\r\n1\r\n--b\t\r\n\r\n2\r\n--b-- \r\nx",
            [ReadPart("1"), ReadPart("2")]),
        Vector(
            "empty bodies", "--b\r\n\r\n\r\n--b\r\n\r\n--b\r\na: 1\r\n\r\n--b--",
            [ReadPart(""), ReadPart(""), ReadPart("", "a: 1")]),
        Vector(
            "a line break at the end of a body", "--b\r\n\r\n\r\n\r\n--b\r\n\r\n1\r\n\r\n--b--",
            [ReadPart("\r\n"), ReadPart("1\r\n")]),
        Vector(
            "lines that begin like a delimiter",
            "--b\r\n\r\n--bc\r\n--b-\r\n--b--c\r\n--b c\r\n-\r\n--\r\n--B\r\n--b-- -\r\n--b\rc\r\n--b--",
            [ReadPart("--bc\r\n--b-\r\n--b--c\r\n--b c\r\n-\r\n--\r\n--B\r\n--b-- -\r\n--b\rc")]),
        Vector("a delimiter inside a line", "--b\r\n\r\none--b\r\n\r\n--b--", [ReadPart("one--b\r\n")]),
        Vector("LF in a body whose lines end with CRLF", "--b\r\n\r\n1\n--b\n2\r\n--b--", [ReadPart("1\n--b\n2")]),
        Vector("CR before a delimiter", "--b\r\n\r\n1\r\r\n--b\r\n\r\n\r\r\n--b--", [ReadPart("1\r"), ReadPart("\r")]),
        Vector(
            "bare LF", "a\n--b\na: 1\nc: 2\n\n1\r\n--b\n\n\n2\n\n--b--\n",
            [ReadPart("1\r", "a: 1", "c: 2"), ReadPart("\n2\n")]),
        Vector("bare LF in a head", "--b\r\na: 1\nc: 2\n\n1\r\n--b--", [ReadPart("1", "a: 1", "c: 2")]),
        Vector(
            "a folded field, and a value without spaces", "--b\r\na: 1;\r\n\tc=2\r\nd:3\r\n\r\n\r\n--b--",
            [ReadPart("", "a: 1; c=2", "d: 3")]),
        Vector(
            "a quoted boundary with a space", "--a b:c\r\n\r\n1\r\n--a b:c--",
            type: "Multipart/Related; type=\"text/html\"; Boundary=\"a b:c\"", [ReadPart("1")]),
        Vector(
            "a boundary of 70 characters", "--\(longest)\r\n\r\n1\r\n--\(longest.dropLast())\r\n--\(longest)--",
            type: "multipart/byteranges; boundary=\(longest)", [ReadPart("1\r\n--\(longest.dropLast())")]),
        Vector(
            "a boundary with the two hyphens already",
            "\r\n--cam\r\na: 1\r\n\r\n1\r\n--cam\r\n\r\n2\r\n----cam\r\n--cam--",
            type: "multipart/x-mixed-replace;boundary=--cam", [ReadPart("1", "a: 1"), ReadPart("2\r\n----cam")]),
        Vector(
            "a boundary that begins with two hyphens", "----cam\r\n\r\n1\r\n--cam\r\n----cam--",
            type: "multipart/x-mixed-replace;boundary=--cam", [ReadPart("1\r\n--cam")]),
        Vector(
            "no part after a boundary with the two hyphens already", "--cam--\r\n",
            type: "multipart/x-mixed-replace; boundary=--cam", []),
        Vector(
            "spaces around the equals sign", "--cam\n\n1\n--cam--",
            type: "multipart/x-mixed-replace; boundary = \"--cam\"", [ReadPart("1")]),
        Vector(
            "a space before the equals sign", "--cam\r\n\r\n1\r\n--cam--",
            type: "multipart/x-mixed-replace;boundary =--cam", [ReadPart("1")]),
        Vector(
            "a boundary of hyphens", "---\r\n\r\n1\r\n--\r\n-----\r\n", type: "multipart/mixed; boundary=\"-\"",
            [ReadPart("1\r\n--")]),
    ]

    private static let longest = String(repeating: "x", count: 69) + "="

    @Test(arguments: vectors)
    func `the parts are the same for any division of the body into pieces`(vector: Vector) async throws {
        for pieces in vector.divisions {
            let (parts, error) = await HTTPResponse.multipart(pieces, type: vector.type).parts().readAll()
            #expect(parts == vector.parts && error == nil, "\(pieces.map(\.count))")
        }
    }

    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let vector: Vector
        let code: HTTPError.Code
        let message: String

        init(
            _ name: String, _ text: String, after parts: [ReadPart] = [], code: HTTPError.Code = .invalidResponse,
            _ message: String
        ) {
            (testDescription, self.code, self.message) = (name, code, message)
            vector = Vector(name, text, parts)
        }
    }

    static let faults: [Fault] = [
        Fault("no body", "", "the body has no delimiter with the boundary"),
        Fault("another boundary", "--c\r\n\r\n1\r\n--c--", "the body has no delimiter with the boundary"),
        Fault("half a delimiter", "--b", "the body has no delimiter with the boundary"),
        Fault("half of the last delimiter", "--b-", "the body has no delimiter with the boundary"),
        Fault("an end after a delimiter", "--b\r\n", "the body is truncated in part 1"),
        Fault(
            "an end in a head", "--b\r\n\r\n1\r\n--b\r\na: 1\r\n", after: [ReadPart("1")],
            "the body is truncated in part 2"),
        Fault(
            "an end in a body", "--b\r\n\r\n1\r\n--b\r\n\r\n2", after: [ReadPart("1")],
            "the body is truncated in part 2"),
        Fault("an end in a delimiter", "--b\r\n\r\n1\r\n--b", "the body is truncated in part 1"),
        Fault("an end in the last delimiter", "--b\r\n\r\n1\r\n--b-", "the body is truncated in part 1"),
        Fault("a head without a blank line", "--b\r\na: 1\r\n--b--\r\n", "the body is truncated in part 1"),
        Fault(
            "a line without a colon", "--b\r\n\r\n1\r\n--b\r\na\r\n\r\n2\r\n--b--", after: [ReadPart("1")],
            "the head of part 2 is malformed: a header name is not a token"),
        Fault("a name with a space", "--b\r\na : 1\r\n\r\n1\r\n--b--", "the head of part 1 is malformed"),
        Fault("NUL in a value", "--b\r\na: \0\r\n\r\n1\r\n--b--", "contains NUL or a bare CR"),
        Fault(
            "a first line that is folded", "--b\r\n a: 1\r\n\r\n1\r\n--b--",
            "the first header line begins with a space or a tab"),
        Fault(
            "more parts than allowed", "--b\r\n\r\n1\r\n--b\r\n\r\n2\r\n--b\r\n\r\n3\r\n--b--",
            after: [ReadPart("1"), ReadPart("2")], code: .responseTooLarge,
            "there are more than the 2 parts allowed (to allow more, raise partLimit)"
        ),
        Fault(
            "a head that is too large",
            "--b\r\n\r\n1\r\n--b\r\na: \(String(repeating: "1", count: 34))\r\n\r\n\r\n--b--",
            after: [ReadPart("1")], code: .responseTooLarge,
            "the head of part 2 is larger than the 40 bytes allowed (to allow more, raise headLimit)"
        ),
        Fault(
            "a head without an end", "--b\r\n\(String(repeating: "1", count: 41))", code: .responseTooLarge,
            "the head of part 1 is larger than the 40 bytes allowed (to allow more, raise headLimit)"),
        Fault(
            "a preamble that is too long", String(repeating: "1", count: 41) + "\n--b--",
            "the first 40 bytes contain no delimiter with the boundary (to allow more, raise headLimit)"),
    ]

    @Test(arguments: faults)
    func `a fault is found for any division of the body, after the parts that arrived`(fault: Fault) async throws {
        for pieces in fault.vector.divisions {
            let (parts, thrown) = await HTTPResponse.multipart(pieces).parts(partLimit: 2, headLimit: 40).readAll()
            let error = try #require(thrown as? HTTPError, "\(pieces.map(\.count))")
            #expect(parts == fault.vector.parts && error.code == fault.code, "\(pieces.map(\.count))")
            #expect(error.message.contains(fault.message), "\(pieces.map(\.count)): \(error.message)")
        }
    }

    @Test func `limits include their last value`() async throws {
        let text = "--b\r\na: \(String(repeating: "1", count: 33))\r\n\r\n1\r\n--b\r\n\r\n2\r\n--b--"
        let preamble = String(repeating: "1", count: 40) + "\n"
        let (parts, error) = await HTTPResponse.multipart(preamble + text).parts(partLimit: 2, headLimit: 40).readAll()
        #expect(parts.map(\.body) == ["1", "2"] && error == nil)
    }

    @Test(
        arguments: [
            ("text/plain; boundary=b", "expected a multipart response, and received text/plain"),
            ("multipart", "expected a multipart response, and received no Content-Type"),
            ("multipart/mixed", "the Content-Type multipart/mixed has no boundary of 1 to 70 visible characters"),
            ("multipart/mixed; boundary=\"\"", "has no boundary"),
            ("multipart/mixed; boundary=\"b \"", "has no boundary"),
            ("multipart/mixed; boundary=\"\u{E9}\"", "has no boundary"),
            ("multipart/mixed; boundary=\(String(repeating: "x", count: 71))", "has no boundary"),
        ])
    func `a response of another type or without a valid boundary is an error`(type: String, message: String)
        async throws
    {
        let (parts, error) = await HTTPResponse.multipart("--b\r\n\r\n1\r\n--b--", type: type).parts().readAll()
        #expect(parts.isEmpty && (error as? HTTPError)?.code == .invalidResponse)
        #expect((error as? HTTPError)?.message.contains(message) == true, "\(String(describing: error))")
    }

    @Test func `a body of bytes arrives unchanged`() async throws {
        let bytes = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })
        let whole = Data("--b\r\n\r\n".utf8) + bytes + Data("\r\n--b--\r\n".utf8)
        let pieces = stride(from: 0, to: whole.count, by: 16_384).map {
            Data(whole[$0..<min($0 + 16_384, whole.count)])
        }
        var iterator = HTTPResponse.multipart(pieces).parts().makeAsyncIterator()
        #expect(try await iterator.next()?.body.data() == bytes)
        #expect(try await iterator.next() == nil)
    }

    /// Four times the body takes four times as long. The square would be sixteen.
    @Test(
        arguments: ["\r\n--b" + String(repeating: " ", count: 250) + "x", "\r\n", "\r", "\r\n--b\r\n\r\n", "--b"],
        [1, 4096])
    func `a body is split in linear time`(piece: String, size: Int) {
        let ratio = growth(of: (size == 1 ? 4000 : 40_000) / piece.utf8.count) { count in
            let bytes = Data(("--b\r\n\r\n" + String(repeating: piece, count: count)).utf8)
            var parser = MultipartParser(boundary: "b", partLimit: .max, headLimit: 16 << 10)
            for start in stride(from: 0, to: bytes.count, by: size) {
                parser.append(Data(bytes[start..<min(start + size, bytes.count)]))
                while let event = try? parser.next(), event != .end {}
            }
        }
        #expect(ratio < 8)
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import Testing

@Suite struct MultipartBoundaryTests {
    @Test func `a boundary is 32 letters and digits that need no quoting`() {
        let body = MultipartBody([])
        #expect(body.boundary.wholeMatch(of: /[a-z2-7]{32}/) != nil)
        #expect(body.additionalHeaders["Content-Type"] == "multipart/form-data; boundary=\(body.boundary)")
    }

    @Test func `100000 boundaries are all different`() {
        let boundaries = Set((0..<100_000).map { _ in MultipartBody([]).boundary })
        #expect(boundaries.count == 100_000)
    }

    @Test func `the boundary of a value is fixed, so that a retry is the same`() throws {
        let body = MultipartBody([.text("a", name: "a")])
        #expect(try body.encode() == body.encode())
        #expect(try String(decoding: body.encode(), as: UTF8.self).hasPrefix("--\(body.boundary)\r\n"))
    }

    @Test(arguments: [
        "", String(repeating: "x", count: 71), "ends with space ", "a\r\nX-Injected: 1", "a\"b", "é", "a;b", "a\0b",
    ]) func `a boundary outside the standard is refused`(boundary: String) throws {
        #expect(throws: HTTPBodyError.self) { try MultipartBody([], boundary: boundary) }
        let late = MultipartBody([], uncheckedBoundary: boundary)
        #expect(throws: HTTPBodyError.self) { try late.encode() }
        #expect(throws: HTTPBodyError.self) { try late.chunks() }
    }

    @Test(arguments: [String(repeating: "x", count: 70), "a", "09azAZ'()+_,-./:=?", "a b"])
    func `a boundary within the standard is accepted`(boundary: String) throws {
        #expect(try MultipartBody([], boundary: boundary).boundary == boundary)
        #expect(MultipartBody([], uncheckedBoundary: boundary).boundary == boundary)
    }

    @Test func `a template without a boundary has a random one`() {
        #expect(MultipartBody([], uncheckedBoundary: nil).boundary.utf8.count == 32)
    }

    @Test(arguments: ["--B", "--B--", "\r\n--B--", "x\n--B", "x\r--Bcd", "--\r\n--B"])
    func `a custom boundary that a part contains is refused`(content: String) async throws {
        let parts: [MultipartBody.Part] = [.text("", name: "a"), .data(Data(content.utf8), name: "b")]
        #expect(throws: HTTPBodyError.self) { try MultipartBody(parts, boundary: "B") }
        #expect(throws: HTTPBodyError.self) { try MultipartBody(parts, uncheckedBoundary: "B").chunks() }
        let nested: [MultipartBody.Part] = [.body(DataBody(Data(content.utf8)), name: "b")]
        #expect(throws: HTTPBodyError.self) { try MultipartBody(nested, boundary: "B").chunks() }
        #expect(throws: HTTPBodyError.self) { try MultipartBody(nested, boundary: "B").encode() }
    }

    @Test(arguments: ["x--B", "\r\n--A", "\r\n-B", "\r\n- -B", "B\r\n--"])
    func `a text that only resembles a delimiter is accepted`(
        content: String
    ) throws {
        #expect(throws: Never.self) { try MultipartBody([.text(content, name: "a")], boundary: "B").encode() }
    }

    @Test(arguments: 1...9) func `a custom boundary that is split over pieces of a stream is found`(size: Int)
        async throws
    {
        let content = Array("text\r\n--boundary--".utf8)
        let pieces = stride(from: 0, to: content.count, by: size).map {
            Data(content[$0..<min($0 + size, content.count)])
        }
        let part = MultipartBody.Part.stream(name: "a") {
            AsyncStream<Data> { continuation in
                for piece in pieces { continuation.yield(piece) }
                continuation.finish()
            }
        }
        await #expect(throws: HTTPBodyError.self) { try await MultipartBody([part], boundary: "boundary").walked() }
        await #expect(throws: Never.self) { try await MultipartBody([part], boundary: "boundary-2").walked() }
    }

    @Test func `if a part contains a random boundary, the next one is used`() throws {
        var foreseen = CountingGenerator()
        let first = MultipartBody([], using: &foreseen).boundary
        var again = CountingGenerator()
        let body = MultipartBody([.text("\r\n--\(first)--", name: "a")], using: &again)
        #expect(body.boundary != first)
        #expect(throws: Never.self) { try body.encode() }
    }

    /// Foreseeable numbers.
    private struct CountingGenerator: RandomNumberGenerator {
        var state: UInt64 = 0
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            return state
        }
    }
}

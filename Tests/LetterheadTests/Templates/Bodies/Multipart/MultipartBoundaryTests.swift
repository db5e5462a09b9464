// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import Testing

@Suite struct MultipartBoundaryTests {
    @Test func `a boundary is 48 letters and digits that need no quoting`() {
        let body = MultipartBody([])
        #expect(body.boundary.wholeMatch(of: /([89a-f][0-9a-f]{15}){3}/) != nil)
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
        let body = MultipartBody([], boundary: boundary)
        #expect(throws: HTTPBodyError.self) { try body.encode() }
        #expect(throws: HTTPBodyError.self) { try body.chunks() }
    }

    @Test(arguments: [String(repeating: "x", count: 70), "a", "09azAZ'()+_,-./:=?", "a b"])
    func `a boundary within the standard is accepted`(boundary: String) throws {
        let body = MultipartBody([], boundary: boundary)
        #expect(try body.encode() == Data("--\(boundary)--\r\n".utf8) && body.boundary == boundary)
    }

    @Test func `a part is not searched for the boundary`() throws {
        let body = MultipartBody([.text("\r\n--b--", name: "a")], boundary: "b")
        #expect(try body.encode().count == body.contentLength)
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import Letterhead

struct RequestHeadTests {
    private func request(_ url: String, _ method: HTTPMethod = .get, _ headers: HTTPHeaders = [:]) throws -> HTTPRequest
    {
        HTTPRequest(method: method, url: try #require(URL(string: url))).with { $0.headers = headers }
    }

    private func text(
        of request: HTTPRequest, _ framing: RequestHead.Framing = .none, decodesContent: Bool = false, body: String = ""
    ) -> String {
        let bytes = RequestHead.bytes(
            of: request, framing: framing, decodesContent: decodesContent, body: Data(body.utf8))
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(arguments: [
        ("http://a.example", "/", "a.example"),
        ("http://a.example?q=/x/y", "/?q=/x/y", "a.example"), ("http://a.example/a?b#c", "/a?b", "a.example"),
        ("http://a.example:80/a%2Fb/../c//d?x=%20&y=+&z", "/a%2Fb/../c//d?x=%20&y=+&z", "a.example"),
        ("http://a.example:443/", "/", "a.example:443"), ("https://a.example:443/", "/", "a.example"),
        ("https://a.example:80/", "/", "a.example:80"), ("http://[::1]:8080/x", "/x", "[::1]:8080"),
    ])
    func `the request line has the target, and Host the authority`(url: String, target: String, host: String) throws {
        #expect(text(of: try request(url)) == "GET \(target) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
    }

    @Test func `fields are written in order, and Host is the first`() throws {
        var request = try request("http://a.example/", "get", ["x-Mixed-CASE": "1", "X-Empty": ""])
        request.headers.append("x-mixed-case", "\u{E9}")
        let fields = "x-Mixed-CASE: 1\r\nX-Empty:\r\nx-mixed-case: \u{E9}\r\n"
        let start = "get / HTTP/1.1\r\nHost: "
        #expect(text(of: request) == start + "a.example\r\n" + fields + "\r\n")
        request.headers.append("Host", "other.test")
        #expect(text(of: request) == start + "other.test\r\n" + fields + "\r\n")
        request.omittedHeaders = [.host]
        #expect(text(of: request) == start + "other.test\r\n" + fields + "\r\n")
        request.headers[.host] = nil
        #expect(text(of: request) == "get / HTTP/1.1\r\n" + fields + "\r\n")
    }

    @Test func `content codings are offered unless the request decides about them`() throws {
        let line = "Accept-Encoding: \(ContentDecoder.offered)\r\n"
        var request = try request("http://a.example/")
        #expect(text(of: request, decodesContent: true).hasSuffix("a.example\r\n\(line)\r\n"))
        request.omittedHeaders = [.acceptEncoding]
        #expect(!text(of: request, decodesContent: true).contains("Accept-Encoding"))
        request.omittedHeaders = []
        for (name, value) in [("Range", "bytes=0-1"), ("accept-encoding", "identity")] {
            request.headers = HTTPHeaders([name: value])
            #expect(text(of: request, decodesContent: true).hasSuffix("a.example\r\n\(name): \(value)\r\n\r\n"))
        }
    }

    @Test func `the framing ends the head, and a small body follows it`() throws {
        let request = try request("http://a.example/", .post, ["X": "1"])
        #expect(text(of: request, .length(0)).hasSuffix("\r\nX: 1\r\nContent-Length: 0\r\n\r\n"))
        #expect(text(of: request, .length(5), body: "hello").hasSuffix("\r\nX: 1\r\nContent-Length: 5\r\n\r\nhello"))
        #expect(text(of: request, .chunks).hasSuffix("\r\nX: 1\r\nTransfer-Encoding: chunked\r\n\r\n"))
    }

    @Test func `pieces become chunks in place`() {
        var bytes = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        var body = ""
        for size in [1, 9, 10, 15, 16, 255, 256, 4095, 65_535, 65_536, 1 << 20] {
            let piece = String(repeating: "\(size % 7)", count: size)
            body += piece
            let room = ChunkCoding.roomBefore
            var buffer = [UInt8](repeating: 0, count: room + size + ChunkCoding.roomAfter)
            buffer.replaceSubrange(room..<(room + size), with: piece.utf8)
            let range = buffer.withUnsafeMutableBytes { unsafe ChunkCoding.frame($0, count: size) }
            #expect(
                String(decoding: buffer[range].prefix(8), as: UTF8.self).hasPrefix(String(size, radix: 16) + "\r\n"))
            bytes += buffer[range]
        }
        bytes += ChunkCoding.last
        #expect(ReadResponse(bytes).outcome == "end" && ReadResponse(bytes).body == body)
    }

    @Test func `the largest piece has room for its size`() {
        let size = 0xFFFF_FFFF
        let memory = UnsafeMutableRawBufferPointer(
            start: mmap(nil, size + 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
            count: size + 12)
        defer { munmap(memory.baseAddress, memory.count) }
        #expect(ChunkCoding.frame(memory, count: size) == 0..<(size + 12))
        #expect(memory.prefix(10).elementsEqual("ffffffff\r\n".utf8))
    }
}

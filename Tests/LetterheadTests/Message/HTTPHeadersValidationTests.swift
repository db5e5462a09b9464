// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import Testing

/// What RFC 9110, 5.1 and 5.5 allow, for every byte.
@Suite struct HTTPHeadersValidationTests {
    private static let tokenCharacters = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

    private func refusal(_ headers: HTTPHeaders) -> HTTPError? {
        let request = HTTPRequest().with { ($0.host, $0.headers) = ("example.com", headers) }
        do throws(HTTPError) { try request.validate() } catch { return error }
        return nil
    }

    private func refusal(name: String, value: String) -> HTTPError? {
        var headers = HTTPHeaders()
        headers.append(HTTPHeaders.Name(name), value)
        return refusal(headers)
    }

    @Test(arguments: UInt8.min...UInt8.max)
    func `a name with a byte that is not a token character is refused`(byte: UInt8) {
        let character = Character(Unicode.Scalar(byte))
        let isToken = Self.tokenCharacters.contains(character)
        for name in ["\(character)", "X\(character)Y", "\(character)Y", "X\(character)"] {
            #expect((refusal(name: name, value: "v") == nil) == isToken)
            #expect(isToken || refusal(name: name, value: "v")?.code == .invalidRequest)
        }
    }

    @Test func `a second Host and an invalid Host are refused`() {
        for host in ["a.test", "a.test:8080", "[::1]", "[::1]:1", "127.0.0.1"] {
            #expect(refusal(["Host": host]) == nil, "\(host)")
        }
        for host in [
            "", "a b", "a.test, b.test", "u@a.test", "a.test/x", "a.test:0", "a.test:x", "a.test?", "a#", ":80",
        ] { #expect(refusal(["Host": host])?.code == .invalidRequest, "\(host)") }
        #expect(refusal(["Host": "a.test", "X": "1", "HOST": "a.test"])?.message.contains("Host") == true)
    }

    @Test func `a request's own Proxy-Authorization is refused, and not part of the error`() throws {
        for name in ["Proxy-Authorization", "proxy-authorization"] {
            let error = try #require(refusal(name: name, value: "Basic SECRET"))
            #expect(error.code == .invalidRequest && !error.mayHaveBeenSent)
            #expect(error.message.contains("authenticated(user:password:)") && !"\(error)".contains("SECRET"))
        }
        var request = HTTPRequest(method: .post, url: try #require(URL(string: "https://a.test/")))
        request.body = DataBody(Data([1]), additionalHeaders: ["Proxy-Authorization": "Basic SECRET"])
        #expect(throws: HTTPError.self) { try request.validate() }
    }

    @Test(arguments: UInt8.min...UInt8.max)
    func `a value with a control character is refused, and any other byte is accepted`(byte: UInt8) {
        let character = Character(Unicode.Scalar(byte))
        let isControl = (byte < 0x20 && byte != 0x09) || byte == 0x7F
        for value in ["a\(character)b", "\(character)b", "a\(character)", "\(character)"] {
            #expect((refusal(name: "X", value: value) != nil) == isControl, "byte \(byte)")
        }
    }

    @Test func `the error names the header and never its value`() throws {
        let error = try #require(refusal(name: "X-Marker", value: "SECRET\r\nX-Injected: SECRET"))
        for text in ["\(error)", String(reflecting: error), error.message, error.localizedDescription] {
            #expect(text.contains("X-Marker") && !text.contains("SECRET") && !text.contains("X-Injected"))
        }
    }

    @Test func `the error for a name has its position and not its text`() throws {
        let error = try #require(refusal(name: "SECRET\r\n", value: "v"))
        #expect("\(error)".contains("header 1"))
        #expect(!"\(error)".contains("SECRET"))
    }

    @Test(arguments: ["Ā", "é", "🌎", "日本"])
    func `text beyond ASCII is kept as UTF-8`(value: String) {
        #expect(refusal(name: "X", value: value) == nil)
    }

    @Test(arguments: [
        ("", "v"), ("X", "a\r\nX-Injected: 1"), ("X", "a\nb"), ("X", "a\r"), ("X", "\u{0}"), ("X", "a\r\n b"),
        ("X", "é\r\n"), ("Content-Length", "5"), ("content-length", "5"), ("Transfer-Encoding", "5"),
        ("TRANSFER-ENCODING", "5"),
    ])
    func `an empty name, a value that would end its line, and a header that frames the message are refused`(
        name: String, value: String
    ) {
        #expect(refusal(name: name, value: value)?.code == .invalidRequest)
    }
}

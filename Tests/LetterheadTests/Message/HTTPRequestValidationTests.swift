// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import Testing

@Suite struct HTTPRequestValidationTests {
    private func refusal(_ change: (inout HTTPRequest) -> Void) -> HTTPError? {
        let request = HTTPRequest().with { $0.host = "example.com" }.with(change)
        do throws(HTTPError) { try request.validate() } catch { return error }
        return nil
    }

    @Test(arguments: UInt8.min...UInt8.max)
    func `a method with a byte that is not a token character is refused`(byte: UInt8) {
        let allowed = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
        let character = Character(Unicode.Scalar(byte))
        let error = refusal { $0.method = HTTPMethod("G\(character)T") }
        #expect((error == nil) == allowed.contains(character))
    }

    @Test(arguments: ["", "GET SECRET", "GET\r\nX-SECRET: 1", "GET /SECRET HTTP/1.1\r\n", "SECRETÉ"])
    func `a bad method is refused, and the error does not show it`(method: String) throws {
        let error = try #require(refusal { $0.method = HTTPMethod(method) })
        #expect(error.code == .invalidRequest && error.message.contains("method") && !error.mayHaveBeenSent)
        for text in ["\(error)", String(reflecting: error), "\(error.request)", error.localizedDescription] {
            #expect(!text.contains("SECRET"))
        }
    }

    @Test(arguments: [
        "example.com%2F10.0.0.1", "a%00b", "a\\b", "a\tb", "a\nb", "a\r\nb", "a b", "a\u{0}b", "a/b", "a?b", "a#b",
        "a@b", "user:pass@b", "a:80", "é.com", "[", "]", "[]", "[::1", "::1", "[::1]x", "[g::1]", "[::1%25en0]", "a<b",
        "a>b", "a^b", "a|b", "a\"b", "a{b", "\u{7F}", "\u{FF0E}", "", "[1]", "a,b", "a;b", "*", "(a)", "'a'", "a!b",
        "$",
    ]) func `an invalid host is refused`(host: String) throws {
        let error = try #require(refusal { $0.host = host })
        #expect(error.code == .invalidRequest && error.message.contains("host"))
    }

    @Test func `the error for a host does not show it`() throws {
        let error = try #require(refusal { $0.host = "user:SECRET@evil" })
        for text in ["\(error)", String(reflecting: error), "\(error.request)"] { #expect(!text.contains("SECRET")) }
    }

    @Test(arguments: [
        "example.com", "EXAMPLE.com", "127.0.0.1", "[::1]", "[2001:db8::1]", "[::ffff:1.2.3.4]", "a-b.c", "a_b",
        "xn--bcher-kva.example", "localhost", "h.",
    ]) func `a name and an address are hosts`(host: String) { #expect(refusal { $0.host = host } == nil) }

    @Test(arguments: [Int.min, -1, 0, 65_536, Int.max]) func `a port out of range is refused`(port: Int) throws {
        let error = try #require(refusal { $0.port = port })
        #expect(error.code == .invalidRequest && error.message.contains("port"))
    }

    @Test(arguments: [1, 80, 65_535]) func `a port in range is accepted`(port: Int) {
        #expect(refusal { $0.port = port } == nil)
    }

    @Test(arguments: ["ftp", "file", "", "https ", "ws", "javascript"])
    func `a scheme other than http and https is refused`(scheme: String) throws {
        let error = try #require(refusal { $0.scheme = scheme })
        #expect(error.code == .invalidRequest && error.message.contains("scheme"))
    }

    @Test(arguments: ["http", "https", "HTTP", "Https"])
    func `http and https are accepted in any case`(scheme: String) {
        #expect(refusal { $0.scheme = scheme } == nil)
    }

    @Test func `user and password in a URL are refused, and not part of the error`() throws {
        let url = try #require(URL(string: "https://marker:SECRET@example.com/harmless"))
        let error = #expect(throws: HTTPError.self) { try HTTPRequest(url: url).validate() }
        #expect(error?.code == .invalidRequest)
        #expect("\(try #require(error))".contains("harmless"))
        #expect(!"\(try #require(error))".contains("SECRET"))
        #expect(!"\(try #require(error))".contains("marker"))
    }

    @Test func `a request without host is refused`() {
        let error = #expect(throws: HTTPError.self) { try HTTPRequest().validate() }
        #expect(error?.code == .invalidRequest && error?.message.contains("host") == true)
    }

    @Test(arguments: ["a b", "a\r\nb", "é", "\u{0}", "a#b"])
    func `an unescaped query is refused, with a # that would end it`(query: String) throws {
        let error = try #require(refusal { $0.query = QueryParameters(escaped: query) })
        #expect(error.code == .invalidRequest && error.message.contains("query"))
    }

    @Test(arguments: [.zero, .seconds(-1), .milliseconds(-1)] as [Duration])
    func `an invalid timeout is refused`(timeout: Duration) throws {
        let error = try #require(refusal { $0.timeout = timeout })
        #expect(error.code == .invalidRequest && error.message.contains("timeout"))
    }
}

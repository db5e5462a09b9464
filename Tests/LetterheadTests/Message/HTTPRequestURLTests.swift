// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import TestKit
import Testing

@Suite struct HTTPRequestURLTests {
    @Test(arguments: [
        "http://127.0.0.1:8080/x", "https://example.com", "https://example.com/", "https://example.com?a=1",
        "https://example.com/?a=1&a=2&b", "https://example.com/a?", "https://example.com/a#f",
        "https://example.com/a?#", "https://u:p@example.com/a", "https://u@example.com", "https://[::1]:443/a",
        "https://example.com/a%2Fb/%zz".replacing("%zz", with: "%7A"),
        "https://example.com/%e2%82%ac?%e2%82%ac=%E2%82%AC", "https://example.com/a//b/../c/./d/",
        "https://example.com/;p=1,2/(x)!*'", "https://example.com/?q=a+b&c=%2B&d=a%20b",
        "https://example.com/?a=1;b=2&&c==", "https://EXAMPLE.com/CaSe", "https://example.com/a?b?c/d#e?f",
        "https://example.com/:@&=$",
    ]) func `the URL of a request equals the given one byte for byte`(text: String) throws {
        let url = try #require(URL(string: text, encodingInvalidCharacters: false))
        #expect(url.absoluteString == text)
        let request = HTTPRequest(url: url)
        #expect(try request.urlString() == text)
        #expect(try request.url().absoluteString == text)
    }

    @Test func `a request is created from a string, whose bytes are kept`() throws {
        let text = "https://example.com:8443/a%2fb?q=a%20b&flag#f"
        let request = try HTTPRequest(method: .put, text)
        #expect(try request.urlString() == text)
        #expect(request.method == .put && request.port == 8443 && request.query["q"] == "a b")
        #expect(try HTTPRequest("HTTP://h").method == .get)
    }

    @Test(arguments: [
        "", "example.com/secret", "/secret", "//example.com/secret", "https:///secret", "https://", "ftp://h/secret",
        "https://h/secret x", "https://h/sécret", "mailto:secret@h", "https://h:x/secret", "\u{0}https://h/secret",
        "localhost:secret", "ada:secret@h",
    ])
    func `a string that is not an absolute http URL is refused, and not part of the error`(text: String) throws {
        let error = #expect(throws: HTTPError.self) { try HTTPRequest(text).validate() }
        #expect(error?.code == .invalidRequest && error?.description.contains("secret") == false)
    }

    @Test func `a string without a scheme is refused with the two schemes`() {
        let error = #expect(throws: HTTPError.self) { try HTTPRequest("localhost:7801") }
        #expect(error?.message.hasSuffix("begin with https://, or with http:// for a server without TLS") == true)
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `any URL that Foundation accepts is kept byte for byte`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let pieces = ["a", "/", "?", "#", "&", "=", "%41", "%2f", "+", ";", ":", "@", "..", "~", "!", ","]
        for _ in 0..<300 {
            let text = "https://example.com/" + generator.text(of: pieces, upTo: 12)
            guard let url = URL(string: text, encodingInvalidCharacters: false) else { continue }
            #expect(try HTTPRequest(url: url).urlString() == url.absoluteString)
        }
    }

    @Test(arguments: [0, 7, 80, 65535, -1, -80, .max, .min])
    func `any port is written in its digits, until validation refuses it`(port: Int) throws {
        let request = HTTPRequest().with { ($0.host, $0.port) = ("h", port) }
        #expect(try request.urlString() == "https://h:\(port)")
    }

    @Test(arguments: [("", "/"), ("a", "/a"), ("/a", "/a"), ("a/", "/a/")] as [(RequestPath, String)])
    func `the target begins with a slash`(path: RequestPath, target: String) {
        var request = HTTPRequest().with { $0.path = path }
        #expect(request.target == target)
        request[query: "q"] = "1+2"
        #expect(request.target == target + "?q=1%2B2")
    }

    @Test func `a request without a host has no URL, and the error names the remedy`() throws {
        let request = HTTPRequest()
        let error = #expect(throws: HTTPError.self) { try request.url() }
        #expect(error?.code == .invalidRequest && error?.message.contains("host") == true)
        #expect(error?.message.contains("environment") == true)
    }

    @Test(arguments: ["a b", "[", "h\r\nx", "é"]) func `a host that a URL cannot contain is an error`(host: String) {
        let request = HTTPRequest().with { $0.host = host }
        let error = #expect(throws: HTTPError.self) { try request.url() }
        #expect(error?.code == .invalidRequest)
    }
}

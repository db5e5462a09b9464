// SPDX-License-Identifier: MIT
import Foundation
import HTTPTypes
import Letterhead
import LetterheadHTTPTypes
import Testing

struct ConversionTests {
    private func head(
        _ method: HTTPTypes.HTTPRequest.Method = .get, scheme: String? = "https", authority: String? = "a.test",
        path: String? = "/", _ fields: HTTPFields = [:]
    ) -> HTTPTypes.HTTPRequest {
        HTTPTypes.HTTPRequest(method: method, scheme: scheme, authority: authority, path: path, headerFields: fields)
    }

    @Test(arguments: [
        "/", "/a", "/a/", "//a//b", "/a%2Fb%20c", "/a?", "/a?b", "/a?b=", "/a?b=1&b=2&c=%20+%2B", "/?a=b?c=d",
        "/a;b=1,2",
        "/%E2%82%AC", "/~user/*", "/a?x=[1]&y=|",
    ])
    func `a path keeps its bytes in both directions`(path: String) throws {
        let original = head(path: path)
        let request = try Letterhead.HTTPRequest(original)
        #expect(request.target == path)
        #expect(try HTTPTypes.HTTPRequest(request) == original)
    }

    @Test(arguments: [
        ("https", "a.test"), ("http", "a.test"), ("https", "a.test:443"), ("http", "a.test:8080"),
        ("https", "127.0.0.1:1"), ("https", "[::1]"), ("https", "[2001:db8::1]:8443"), ("https", "xn--bcher-kva.test"),
    ])
    func `a scheme and an authority are kept in both directions`(scheme: String, authority: String) throws {
        let original = head(scheme: scheme, authority: authority, path: "/a?b")
        let request = try Letterhead.HTTPRequest(original)
        #expect(request.scheme == scheme && request.authority == authority)
        #expect(try HTTPTypes.HTTPRequest(request) == original)
    }

    @Test(arguments: ["GET", "QUERY", "PURGE", "m-search", "!#$%&'*+-.^_`|~"])
    func `a method is kept in both directions`(method: String) throws {
        let original = head(try #require(HTTPTypes.HTTPRequest.Method(method)))
        #expect(try HTTPTypes.HTTPRequest(Letterhead.HTTPRequest(original)) == original)
    }

    @Test func `a request without an authority has neither in both directions`() throws {
        let request = try Letterhead.HTTPRequest(head(scheme: nil, authority: nil, path: "/users?page=2"))
        #expect(request.host == nil)
        let back = try HTTPTypes.HTTPRequest(request)
        #expect(back.scheme == nil && back.authority == nil && back.path == "/users?page=2")
    }

    @Test func `fields keep their order, spelling and repetitions`() throws {
        let pairs = [
            ("X-B", "1"), ("x-a", "2"), ("Accept", "a"), ("X-b", "3"), ("accept", ""), ("Cookie", "c=1"),
            ("Cookie", "d=2"),
        ]
        var fields = HTTPFields()
        for (name, value) in pairs { fields.append(HTTPField(name: try #require(.init(name)), value: value)) }
        let headers = HTTPHeaders(fields)
        #expect(headers.map(\.name.rawValue) == pairs.map(\.0) && headers.map(\.value) == pairs.map(\.1))
        let back = try #require(HTTPFields(headers))
        #expect(back.map(\.name.rawName) == pairs.map(\.0) && back.map(\.value) == pairs.map(\.1))
    }

    @Test func `a secret field is never indexed, and the other way round`() throws {
        var headers: HTTPHeaders = ["X-Plain": "1"]
        headers.setSecret("s3cret", for: "X-Key")
        let fields = try #require(HTTPFields(headers))
        #expect(fields.map(\.indexingStrategy) == [.automatic, .disallow])
        #expect(HTTPHeaders(fields).map(\.isSecret) == [false, true])
        #expect(!"\(HTTPHeaders(fields))".contains("s3cret"))
    }

    @Test func `a value that is not UTF-8 is read as Latin-1`() throws {
        let name = try #require(HTTPField.Name("X-Name"))
        #expect(HTTPHeaders(HTTPFields([HTTPField(name: name, value: [0x63, 0x61, 0x66, 0xE9])]))["X-Name"] == "café")
        #expect(HTTPHeaders(HTTPFields([HTTPField(name: name, value: "café")]))["X-Name"] == "café")
    }

    @Test(arguments: [("X A", "1"), ("", "1"), ("X", "a\r\nb"), ("X", "a\0"), ("X", "\u{7F}")])
    func `fields that cannot be sent are refused`(name: String, value: String) throws {
        var request = Letterhead.HTTPRequest(host: "a.test")
        request.headers = [HTTPHeaders.Name(name): value]
        #expect(HTTPFields(request.headers) == nil)
        let broken = request
        let error = #expect(throws: HTTPError.self) { try HTTPTypes.HTTPRequest(broken) }
        #expect(error?.code == .invalidRequest && error?.message.contains("header") == true)
    }

    @Test func `the fields of a body are those of its request`() throws {
        var request = Letterhead.HTTPRequest(method: .post, host: "a.test")
        request.body = TextBody("hello")
        let fields = try HTTPTypes.HTTPRequest(request).headerFields
        #expect(fields[.contentType]?.hasPrefix("text/plain") == true && fields[.contentLength] == nil)
    }
}

extension ConversionTests {
    @Test func `a URL with a user is refused`() throws {
        let request = Letterhead.HTTPRequest(url: try #require(URL(string: "https://ada:pw@a.test/")))
        let error = #expect(throws: HTTPError.self) { try HTTPTypes.HTTPRequest(request) }
        #expect(error?.code == .invalidRequest && error?.description.contains("pw") == false)
    }

    @Test(arguments: ["ada@a.test", "a.test/b", "a.test?b", "a.test#b", "a b", "", "a.test:x"])
    func `an authority that is not a host with a port is refused`(authority: String) {
        let error = #expect(throws: HTTPError.self) { try Letterhead.HTTPRequest(head(authority: authority)) }
        #expect(error?.code == .invalidRequest)
    }

    @Test(arguments: ["ftp", "unix", "https://b.test/", "h s"])
    func `another scheme is refused`(scheme: String) {
        #expect(throws: HTTPError.self) { try Letterhead.HTTPRequest(head(scheme: scheme)) }
    }

    @Test func `CONNECT, its protocol and the path of a server are refused`() throws {
        var tunnel = head()
        tunnel.extendedConnectProtocol = "websocket"
        for refused in [head(.connect), tunnel, head(.options, path: "*")] {
            #expect(throws: HTTPError.self) { try Letterhead.HTTPRequest(refused) }
        }
    }

    @Test func `a path cannot become another host`() throws {
        let request = try Letterhead.HTTPRequest(head(path: "//evil.test/a"))
        #expect(request.host == "a.test")
        #expect(try request.urlString() == "https://a.test//evil.test/a")
        let relative = try Letterhead.HTTPRequest(head(scheme: nil, authority: nil, path: "//evil.test/a"))
        #expect(relative.host == nil)
    }

    @Test(arguments: [200, 204, 299, 404, 418, 599, 999])
    func `a response keeps its status and its fields in both directions`(code: Int) throws {
        let original = HTTPTypes.HTTPResponse(
            status: HTTPTypes.HTTPResponse.Status(code: code),
            headerFields: [.setCookie: "a=1", .setCookie: "b=2", .age: "3"])
        let response = Letterhead.HTTPResponse(
            original, to: Letterhead.HTTPRequest(host: "a.test"), body: HTTPResponseBody(Data("hi".utf8)))
        #expect(response.headers.values(for: .setCookie) == ["a=1", "b=2"] && response.body.buffered?.count == 2)
        let back = try HTTPTypes.HTTPResponse(response)
        #expect(back == original && back.status.reasonPhrase == HTTPStatus(code).reasonPhrase)
    }

    @Test(arguments: [-1, 0, 99, 1000])
    func `a status without three digits is refused`(code: Int) {
        let response = Letterhead.HTTPResponse(request: Letterhead.HTTPRequest(), status: HTTPStatus(code))
        #expect(throws: HTTPError.self) { try HTTPTypes.HTTPResponse(response) }
    }
}

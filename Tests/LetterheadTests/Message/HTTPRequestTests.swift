// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import Testing

@Suite struct HTTPRequestTests {
    @Test func `a new request is a GET over https with nothing else set`() {
        let request = HTTPRequest()
        #expect(request.method == .get && request.scheme == "https" && request.host == nil)
        #expect(request.port == nil && request.userInfo == nil && request.path == "")
        #expect(request.query.isEmpty && request.fragment == nil && request.headers.isEmpty)
        #expect(request.body.isEmpty && request.timeout == nil && request.serverEnvironment == nil)
        #expect(request.options.timeout == nil && request.options.serverEnvironment == nil)
    }

    @Test func `copies have the same id, and two new requests do not`() {
        let request = HTTPRequest()
        var copy = request
        copy.path = "other"
        copy.method = .post
        #expect(copy.id == request.id && HTTPRequest().id != request.id)
    }

    @Test func `a query parameter is set in one line`() {
        var request = HTTPRequest()
        request[query: "query"] = "anakin"
        #expect(request.query.escaped == "query=anakin" && request[query: "query"] == "anakin")
        request[query: "query"] = nil
        #expect(request.query.isEmpty)
    }

    @Test func `a request of a URL has its parts`() throws {
        let url = try #require(URL(string: "http://user:pass@Example.com:8080/a%2Fb/c?x=1&y#top"))
        let request = HTTPRequest(method: .delete, url: url)
        #expect(request.method == .delete && request.scheme == "http" && request.host == "Example.com")
        #expect(request.port == 8080 && request.userInfo == "user:pass")
        #expect(request.path.segments == ["a/b", "c"])
        #expect(request.query.map(\.name) == ["x", "y"])
        #expect(request.fragment == "top")
    }

    @Test func `a request of a host and a path is a GET over https, and its values are escaped`() throws {
        let request = HTTPRequest(host: "api.example.com", path: "users/\("a/b")")
        #expect(try request.method == .get && request.urlString() == "https://api.example.com/users/a%2Fb")
        #expect(try HTTPRequest(method: .delete, host: "h.test").urlString() == "https://h.test")
    }

    @Test func `a closure sets the parts of a request`() {
        let request = HTTPRequest {
            $0.method = .post
            $0.path = "users"
        }
        #expect(request.method == .post && request.path == "users")
    }

    @Test func `an error of the closure is thrown unchanged`() {
        #expect(throws: CocoaError(.fileNoSuchFile)) {
            try HTTPRequest { _ in throw CocoaError(.fileNoSuchFile) }
        }
    }
}

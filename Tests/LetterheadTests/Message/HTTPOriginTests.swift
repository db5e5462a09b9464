// SPDX-License-Identifier: MIT
import Letterhead
import Testing

@Suite struct HTTPOriginTests {
    @Test func `case and a default port make no difference`() {
        #expect(
            HTTPOrigin(scheme: "HTTPS", host: "Example.COM")
                == HTTPOrigin(scheme: "https", host: "example.com", port: 443))
        #expect(HTTPOrigin(scheme: "http", host: "h") == HTTPOrigin(scheme: "http", host: "h", port: 80))
    }

    @Test func `another scheme, host or port is another origin`() {
        let origin = HTTPOrigin(scheme: "https", host: "h")
        #expect(origin != HTTPOrigin(scheme: "http", host: "h"))
        #expect(origin != HTTPOrigin(scheme: "http", host: "h", port: 443))
        #expect(origin != HTTPOrigin(scheme: "https", host: "g"))
        #expect(origin != HTTPOrigin(scheme: "https", host: "h", port: 8443))
        #expect(origin != HTTPOrigin(scheme: "https", host: "h."))
    }

    @Test(arguments: [
        (HTTPOrigin(scheme: "HTTP", host: "H"), "http://h"),
        (HTTPOrigin(scheme: "https", host: "h", port: 443), "https://h"),
        (HTTPOrigin(scheme: "https", host: "h", port: 80), "https://h:80"),
    ]) func `the description has the port only if it is not the default`(origin: HTTPOrigin, text: String) {
        #expect("\(origin)" == text)
    }

    @Test func `a request without host has no origin`() {
        var request = HTTPRequest()
        #expect(request.origin == nil)
        request.host = "H"
        #expect(request.origin == HTTPOrigin(scheme: "https", host: "h"))
    }

    @Test func `setting the origin of a request sets its scheme, host and port, and nothing else`() throws {
        var request = try HTTPRequest("http://a.example:8080/users?page=2")
        request.origin = HTTPOrigin(scheme: "https", host: "b.example")
        #expect(try request.urlString() == "https://b.example/users?page=2" && request.port == nil)
        request.origin = HTTPOrigin(scheme: "http", host: "c.example", port: 443)
        #expect(try request.urlString() == "http://c.example:443/users?page=2")
        request.origin = nil
        #expect(request.host == nil && request.port == nil && request.scheme == "https")
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Testing

@Suite struct HTTPRequestFramingTests {
    /// A body of the test: headers, bytes, and the length that it declares.
    struct Parcel: HTTPBody {
        var additionalHeaders: HTTPHeaders = [:]
        var contentLength: Int?
        var error: (any Error)?
        func encode() throws -> Data {
            if let error { throw error }
            return Data("abc".utf8)
        }
    }

    private func request(_ body: any HTTPBody, headers: HTTPHeaders = [:]) -> HTTPRequest {
        HTTPRequest().with { ($0.host, $0.headers, $0.body) = ("example.com", headers, body) }
    }

    @Test func `headers of the request take precedence over those of the body`() {
        let body = Parcel(additionalHeaders: ["Content-Type": "text/plain", "X-Body": "1"])
        let headers = request(body, headers: ["content-type": "text/html"]).framedHeaders()
        #expect(headers.values(for: "Content-Type") == ["text/html"] && headers["X-Body"] == "1")
    }

    @Test func `headers of the body take precedence over those of the environment`() throws {
        let url = try #require(URL(string: "https://example.com"))
        let environment = ServerEnvironment(baseURL: url, headers: ["Content-Type": "text/xml", "Accept": "*/*"])
        var request = request(Parcel(additionalHeaders: ["Content-Type": "text/plain"]))
        environment.apply(to: &request)
        #expect(request.framedHeaders() == ["Accept": "*/*", "Content-Type": "text/plain"])
    }

    @Test func `an empty body has no headers and no bytes`() throws {
        let request = request(EmptyBody())
        #expect(request.framedHeaders().isEmpty)
        #expect(try request.framedBody().length == 0)
    }

    @Test(arguments: [
        (nil, "multipart/form-data; boundary=b"), ("multipart/form-data", "multipart/form-data; boundary=b"),
        ("multipart/mixed; boundary=other", "multipart/mixed; boundary=b"),
        ("Multipart/Related; type=\"a/b\"", "multipart/related; type=\"a/b\"; boundary=b"),
        ("application/json", "multipart/form-data; boundary=b"),
    ]) func `the boundary is always the body's own`(asked: String?, sent: String) {
        var request = request(Parcel(additionalHeaders: ["Content-Type": "multipart/form-data; boundary=b"]))
        request.headers["Content-Type"] = asked
        #expect(request.framedHeaders().values(for: "Content-Type") == [sent])
    }

    @Test func `a body keeps its boundary if its Content-Type is omitted`() {
        var request = request(Parcel(additionalHeaders: ["Content-Type": "multipart/form-data; boundary=b"]))
        request.omittedHeaders = [.contentType]
        #expect(request.framedHeaders().isEmpty)
        request.headers[.contentType] = "multipart/mixed"
        #expect(request.framedHeaders().values(for: .contentType) == ["multipart/mixed; boundary=b"])
    }

    @Test(arguments: [true, false])
    func `the Accept of a decoder can be omitted, and that of a request is sent`(isBelow: Bool) async throws {
        let mock = MockLoader { .ok($0, body: Data("[1]".utf8)) }
        let omit = ModifyRequest { $0.omittedHeaders = [.accept] }
        let environment = ServerEnvironment("https://example.com")
        let client =
            isBelow
            ? HTTPClient(environment: environment, attemptLinks: omit, transport: mock)
            : HTTPClient(environment: environment, links: omit, transport: mock)
        let get = Get<[Int]>("a")
        let standard = "application/json, application/problem+json"
        for template in [get.header("Accept", nil), get.header("Accept", standard)] {
            _ = try await client.send(template)
        }
        #expect(mock.requests.map { $0.framedHeaders()[.accept] } == [nil, standard])
    }

    @Test func `a body in memory has its exact length`() throws {
        let body = try request(Parcel()).framedBody()
        #expect(body.length == 3 && body.data == Data("abc".utf8))
    }

    @Test(arguments: [2, 4, -1]) func `a body that declares another length than it has is refused`(length: Int) {
        let error = #expect(throws: HTTPError.self) { try request(Parcel(contentLength: length)).framedBody() }
        #expect(error?.code == .invalidRequest && error?.underlying is HTTPBodyError)
    }

    @Test func `an error of a body is the underlying error of an invalid request that was not sent`() {
        let error = #expect(throws: HTTPError.self) {
            try request(Parcel(error: CocoaError(.fileReadNoSuchFile))).framedBody()
        }
        #expect(error?.code == .invalidRequest && error?.underlying is CocoaError)
        #expect(error?.mayHaveBeenSent == false)
    }

    @Test func `the cancellation of a body cancels the load`() {
        let error = #expect(throws: HTTPError.self) { try request(Parcel(error: CancellationError())).framedBody() }
        #expect(error?.code == .cancelled)
    }

    @Test(
        arguments: [
            ["X-Kind": "a\r\nX-Injected: 1"], ["X Kind": "a"], ["Content-Length": "3"],
            ["Transfer-Encoding": "chunked"],
        ] as [HTTPHeaders]) func `a header of a body is checked like any other`(headers: HTTPHeaders) throws
    {
        let error = #expect(throws: HTTPError.self) { try request(Parcel(additionalHeaders: headers)).validate() }
        #expect(error?.code == .invalidRequest)
        #expect(try !#require(error).description.contains("Injected"))
    }

    @Test func `two Content-Types are refused`() {
        let twice: HTTPHeaders = ["Content-Type": "text/plain", "content-type": "text/html"]
        #expect(throws: HTTPError.self) { try request(Parcel(), headers: twice).validate() }
    }
}

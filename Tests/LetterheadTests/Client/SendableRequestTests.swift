// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Synchronization
import TestKit
import Testing

#if Foundation && canImport(FoundationNetworking)
    import FoundationNetworking
#endif

private struct Refused: Error {}

/// A body that cannot be encoded. Its error contains its value.
struct UnencodableBody: HTTPBody {
    func encode() throws -> Data {
        throw EncodingError.invalidValue("SECRET", .init(codingPath: [], debugDescription: "SECRET"))
    }
}

/// A template with a closure as its hook. It counts the calls.
private struct Hooked: RequestTemplate {
    typealias Response = String
    let path: RequestPath = "a"
    let hook: @Sendable (Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse

    func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse { try await hook(result) }
}

/// A custom builder: a signature over the request of the standard one.
private struct Signed<Template: RequestTemplate>: RequestBuilder {
    let template: Template
    func request() throws(HTTPError) -> HTTPRequest {
        var request = try StandardRequestBuilder(template).request()
        request.headers["X-Signature"] = "over \(request.target)"
        return request
    }
}

#if Foundation || canImport(Darwin)
    /// A builder that has a URLRequest.
    private struct Foreign<Template: RequestTemplate>: RequestBuilder {
        let template: Template
        let foreign: URLRequest
        func request() throws(HTTPError) -> HTTPRequest { try HTTPRequest(foreign) }
    }
#endif

@Suite struct SendableRequestTests {
    private func chain(_ mock: MockLoader) -> any HTTPLoader { ApplyEnvironment(.of("https://h")) --> mock }

    private func answering(_ status: HTTPStatus, _ text: String = "") -> MockLoader {
        MockLoader { HTTPResponse(request: $0, status: status, body: HTTPResponseBody(Data(text.utf8))) }
    }

    private func send<Template: RequestTemplate>(
        _ template: Template, _ mock: MockLoader
    ) async throws -> HTTPResponse where Template.Response == HTTPResponse {
        try await SendableRequest(template, over: chain(mock)).send()
    }

    @Test func `the whole flow returns the value and its response`() async throws {
        let mock = answering(200, #"{"id":1,"login":"ada"}"#)
        let sendable = SendableRequest(TestEndpoint("a", answering: Person.self), over: chain(mock))
        let (value, response) = try await sendable.sendWithResponse()
        #expect(value == Person(id: 1, login: "ada") && response.status == .ok)
        #expect(response.request.id == mock.requests.first?.id)
    }

    @Test func `it can be sent again, each time as a new request`() async throws {
        let mock = answering(200)
        let sendable = SendableRequest(TestEndpoint("a"), over: chain(mock))
        try await sendable.send()
        try await sendable.send()
        #expect(mock.requests.count == 2 && mock.requests[0].id != mock.requests[1].id)
    }

    @Test(arguments: [100, 199, 300, 304, 400, 404, 418, 500, 599, 700])
    func `a status that does not count as success is an error with the response and its body`(code: Int) async throws {
        let error = await failure { try await send(TestEndpoint("a"), answering(HTTPStatus(code), "why")) }
        #expect(error?.code == .unacceptableStatus && error?.response?.status.code == code)
        #expect(error?.response?.body.buffered == Data("why".utf8))
    }

    @Test(arguments: [200, 201, 204, 206, 218, 299]) func `any 2xx is success`(code: Int) async throws {
        _ = try await send(TestEndpoint("a"), answering(HTTPStatus(code)))
    }

    @Test(arguments: [HTTPHeaders.Name.ifNoneMatch, .ifModifiedSince])
    func `304 is success for a conditional request`(name: HTTPHeaders.Name) async throws {
        #expect(try await send(TestEndpoint("a").header(name, "x"), answering(304)).status == .notModified)
    }

    @Test func `the template's accepted statuses apply`() async throws {
        let template = TestEndpoint("a").accepting([404])
        #expect(try await send(template, answering(404)).status == .notFound)
        #expect(await failure { try await send(template, answering(200)) }?.code == .unacceptableStatus)
    }

    @Test func `the received part of a streamed body of an unaccepted status is in the error`() async throws {
        let mock = MockLoader { request in
            let body = StreamedBody.of([Data("one".utf8), Data("two".utf8)], failing: Refused())
            return HTTPResponse(request: request, status: 500, body: body)
        }
        let error = await failure { try await send(TestEndpoint("a"), mock) }
        #expect(error?.response?.body.buffered == Data("onetwo".utf8))
    }

    #if Foundation || canImport(Darwin)
        @Test func `a builder can return a URLRequest`() async throws {
            let signed = Signed(template: TestEndpoint("a").with { $0.baseURL = URL(string: "https://h") })
            #expect(try signed.urlRequest().value(forHTTPHeaderField: "X-Signature") == "over /a")
            var foreign = URLRequest(url: try #require(URL(string: "https://other/p?a=%2F")))
            foreign.httpMethod = "PUT"
            foreign.httpBody = Data("x".utf8)
            foreign.setValue("1", forHTTPHeaderField: "X-Own")
            let mock = answering(200, "ok")
            let builder = Foreign(template: TestEndpoint("a", answering: String.self), foreign: foreign)
            #expect(try await SendableRequest(builder, over: chain(mock)).send() == "ok")
            let request = try #require(mock.requests.first)
            #expect(try request.urlString() == "https://other/p?a=%2F")
            #expect(request.method == .put && request.headers["X-Own"] == "1")
            #expect(try request.body.encode() == Data("x".utf8))
        }
    #endif

    @Test func `a body that cannot be encoded sends nothing, and its value is not in the error`() async throws {
        let mock = answering(200)
        let error = try #require(await failure { try await send(TestEndpoint("a").body(UnencodableBody()), mock) })
        #expect(error.code == .invalidRequest && error.underlying is EncodingError && mock.requests.isEmpty)
        #expect(!"\(error)".contains("SECRET"))
    }

    @Test func `finish receives a success once, before it is decoded`() async throws {
        let heard = Mutex<[Int]>([])
        let template = Hooked { result in
            var response = try result.get()
            heard.withLock { $0.append(response.status.code) }
            response.body = HTTPResponseBody(Data("changed".utf8))
            return response
        }
        #expect(try await SendableRequest(template, over: chain(answering(200, "sent"))).send() == "changed")
        #expect(heard.withLock { $0 } == [200])
    }

    @Test(arguments: [
        (404, HTTPError.Code.unacceptableStatus), (0, .cannotConnect),
    ]) func `finish receives a failure once, and may return it unchanged`(status: Int, code: HTTPError.Code)
        async throws
    {
        let heard = Mutex<[HTTPError.Code]>([])
        let template = Hooked { result in
            if case .failure(let error) = result { heard.withLock { $0.append(error.code) } }
            return try result.get()
        }
        let mock = status == 0 ? MockLoader() : answering(HTTPStatus(status))
        let error = try #require(await failure { try await SendableRequest(template, over: chain(mock)).send() })
        #expect(error.code == code && heard.withLock { $0 } == [code])
    }

    @Test func `finish can turn a failure into a success, which is decoded, and a success into a failure`()
        async throws
    {
        let template = Hooked { result in
            guard case .failure(let error) = result else { throw Refused() }
            return HTTPResponse(request: error.request, status: 200, body: HTTPResponseBody(Data("saved".utf8)))
        }
        for mock in [answering(500), MockLoader()] {
            #expect(try await SendableRequest(template, over: chain(mock)).send() == "saved")
        }
        let sendable = SendableRequest(template, over: chain(answering(200)))
        let error = try await #require(throws: HTTPError.self) { try await sendable.send() }
        #expect(error.underlying is Refused && error.response?.status == .ok)
    }

    @Test(arguments: [true, false])
    func `cancelling the caller's task throws CancellationError, also while the body of an unaccepted status is read`(
        isReading: Bool
    ) async throws {
        let started = OneShot<Void>()
        let mock = MockLoader { request in
            let stall = { @Sendable () async throws -> Data? in
                started.set(())
                try await Task.sleep(for: .seconds(3_600))
                return nil
            }
            if !isReading { _ = try await stall() }
            return HTTPResponse(request: request, status: 500, body: HTTPResponseBody(length: nil, pull: stall))
        }
        let task = Task { try await send(TestEndpoint("a"), mock) }
        await started.value
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `a load that another task cancelled throws an HTTPError`() async throws {
        let mock = MockLoader { _ in throw CancellationError() }
        #expect(await failure { try await send(TestEndpoint("a"), mock) }?.code == .cancelled)
    }

    @Test func `an error after a streamed response closes its connection, and contains the received part`() async throws
    {
        let picky = Hooked { _ in throw Refused() }
        func client(_ validators: [any HTTPValidator], status: HTTPStatus = .ok) -> HTTPClient {
            let chunks = Chunks(3)
            let mock = MockLoader { request in
                HTTPResponse(request: request, status: status, body: HTTPResponseBody(length: 3) { chunks.next() })
            }
            return HTTPClient(environment: .of("https://h"), validators: validators, transport: mock)
        }
        let judged = await #expect(throws: HTTPError.self) {
            try await client([ContentTypeValidator(["application/json"])]).stream(TestEndpoint<HTTPResponse>("a"))
        }
        #expect(judged?.code == .validationFailed && judged?.response?.body.buffered == Data("xxx".utf8))
        for status: HTTPStatus in [.ok, .notFound] {
            let error = await failure { try await client([], status: status).stream(picky) }
            #expect(error?.underlying is Refused && error?.response?.body.buffered == Data("xxx".utf8))
        }
    }
}

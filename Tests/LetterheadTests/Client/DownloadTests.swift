// SPDX-License-Identifier: MIT
import Foundation
import LetterheadTesting
import Synchronization
import TestKit
import Testing

@testable import Letterhead

/// A folder for one download, and the file that may have been there before.
struct DownloadFolder: Sendable {
    let directory: TemporaryDirectory

    init(_ before: String? = nil) throws {
        directory = try TemporaryDirectory()
        if let before { _ = try directory.file("saved", Data(before.utf8)) }
    }

    var file: URL { directory.url.appending(path: "saved") }
    var content: String? { try? String(contentsOf: file, encoding: .utf8) }
    var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: directory.url.path)) ?? [] }
    var isUntouched: Bool { content == "before" && files == ["saved"] }
}

/// A download replaces its file when everything that judges a response has accepted it, and not before.
@Suite(.timeLimit(.minutes(3))) struct DownloadTests {
    typealias Transport = TransportTests.Transport

    private struct Refusal: Error {}

    /// A template that ends with the response of a closure.
    private struct Finishing: RequestTemplate {
        let end: @Sendable (Result<HTTPResponse, HTTPError>) throws -> HTTPResponse
        var path: RequestPath { "a" }
        func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse { try end(result) }
    }

    private let folder: DownloadFolder

    init() throws { folder = try DownloadFolder("before") }

    private func client(_ server: MockServer, _ transport: Transport) -> HTTPClient {
        HTTPClient(environment: ServerEnvironment(baseURL: server.url), transport: transport.loader)
    }

    private static func answering(_ status: HTTPStatus = 200, _ body: String = "after") -> MockLoader {
        MockLoader {
            HTTPResponse(
                request: $0, status: status, headers: ["Content-Type": "text/html"],
                body: HTTPResponseBody(Data(body.utf8)))
        }
    }

    private func client(
        validators: [any HTTPValidator] = [DefaultValidator()], links: (any LoaderLink)? = nil,
        attemptLinks: (any LoaderLink)? = nil, over transport: any HTTPLoader = answering()
    ) -> HTTPClient {
        HTTPClient(
            environment: .of("https://h"), validators: validators, links: links, attemptLinks: attemptLinks,
            transport: transport)
    }

    @Test(arguments: Transport.allCases)
    func `a download that is not modified leaves its file unchanged`(_ transport: Transport) async throws {
        let server = try await MockServer.start { _ in MockServer.Response(status: .notModified) }
        let template = TestEndpoint("a").header("If-None-Match", "\"x\"")
        let response = try await client(server, transport).download(template, to: folder.file)
        #expect(response.status == .notModified && response.savedFile == nil && response.savedByteCount == nil)
        #expect(folder.isUntouched)
        await server.stop()
    }

    @Test(arguments: Transport.allCases, ["PK\u{3}\u{4}archive", "<html>"])
    func `a validator checks the first bytes of a download before it replaces the file`(
        _ transport: Transport, content: String
    ) async throws {
        let server = try await MockServer.start { _ in .text(content) }
        let judge = ClosureValidator { response, _ in
            guard let draft = response.savedFile else { return .failChain(Refusal()) }
            #expect(draft != folder.file && folder.content == "before")
            #expect(response.savedByteCount == content.utf8.count)
            let start = try FileHandle(forReadingFrom: draft).read(upToCount: 4)
            return start == Data("PK\u{3}\u{4}".utf8) ? .nextValidator : .failChain(.invalidResponse, "no archive")
        }
        let (client, template) = (client(server, transport), TestEndpoint("a").validated(by: judge))
        if content == "<html>" {
            let error = await failure { try await client.download(template, to: folder.file) }
            #expect(error?.message == "no archive" && error?.response?.status == 200 && folder.isUntouched)
        } else {
            let response = try await client.download(template, to: folder.file)
            #expect(response.savedFile == folder.file && folder.content == content)
        }
        await server.stop()
    }

    @Test func `what finish, the status of a transformer or a validator refuses does not change the file`()
        async throws
    {
        let failed = TestEndpoint("a").transformed(by: ModifyResponse { $0.status = 500 })
        let typed: [any HTTPValidator] = [ContentTypeValidator(["application/json"])]
        let filled: [any HTTPValidator] = [DefaultValidator(allowsEmptyResponses: false)]
        let errors = [
            await failure { try await client().download(Finishing { _ in throw Refusal() }, to: folder.file) },
            await failure { try await client().download(failed, to: folder.file) },
            await failure { try await client(validators: typed).download(TestEndpoint("a"), to: folder.file) },
            await failure {
                try await client(validators: filled, over: Self.answering(200, "")).download(
                    TestEndpoint("a"), to: folder.file)
            },
        ]
        #expect(errors.map { $0?.code } == [.unknown, .unacceptableStatus, .validationFailed, .emptyResponse])
        #expect(folder.isUntouched)
        // What was saved counts: a file without a byte has no type, and one with bytes is not empty.
        try await client(validators: typed, over: Self.answering(200, "")).download(TestEndpoint("a"), to: folder.file)
        #expect(folder.content == "")
        try await client(validators: filled).download(TestEndpoint("a"), to: folder.file)
        #expect(folder.content == "after")
    }

    @Test func `a download that is retried saves what was accepted`() async throws {
        let count = Counter()
        let mock = MockLoader { .ok($0, body: Data("attempt \(count.next())".utf8)) }
        let judge = ClosureValidator { _, request in
            request.attemptNumber == 1 ? .retry(.immediate) : .nextValidator
        }
        let template = TestEndpoint("a").validated(by: judge).maximumRetries(1)
        let response = try await client(over: mock).download(template, to: folder.file)
        #expect(folder.content == "attempt 2" && folder.files == ["saved"])
        #expect(response.savedFile == folder.file && response.savedByteCount == 9)
        #expect(response.body.buffered?.isEmpty == true)
    }

    @Test func `a plain request and a handle replace the file only at the end, and a chain alone never does`()
        async throws
    {
        let transport = MockLoader { .ok($0, body: Data("after".utf8)) }
        let (client, chain) = (HTTPClient(transport: transport), Retry() --> transport)
        let request = try HTTPRequest("https://h/a").with { $0.responseDelivery = .file(folder.file) }
        var (refused, unaccepted) = (request, request)
        refused.validators = [ClosureValidator { _, _ in .failChain(Refusal()) }]
        unaccepted.acceptedStatuses = [201]
        for bad in [refused, unaccepted] {
            #expect(await failure { try await client.send(bad) } != nil && folder.isUntouched)
        }
        #expect(await failure { try await chain.load(refused) } != nil && folder.isUntouched)
        do {
            let response = try await chain.load(request)
            #expect(response.savedByteCount == 5 && folder.content == "before")
        }
        #expect(folder.isUntouched)
        let response = try await withCheckedContinuation { ended in
            chain.start(request) { ended.resume(returning: $0) }
        }.get()
        #expect(folder.content == "after" && response.savedFile == folder.file)
        // The request of the response can be sent again.
        try Data("before".utf8).write(to: folder.file)
        _ = try await client.send(response.request)
        #expect(folder.content == "after" && folder.files == ["saved"])
    }

    @Test(arguments: Transport.allCases, [true, false])
    func `the limit applies to a download and to a stream, of known and of unknown length`(
        _ transport: Transport, isLengthKnown: Bool
    ) async throws {
        let body = Data(repeating: UInt8(ascii: "x"), count: 300_000)
        let server = try await MockServer.start { _ in body.response(isLengthKnown: isLengthKnown) }
        let client = client(server, transport)
        let (short, exact) = (
            TestEndpoint("a").responseLimit(body.count - 1), TestEndpoint("a").responseLimit(body.count)
        )
        let unsaved = await failure { try await client.download(short, to: folder.file) }
        #expect(unsaved?.code == .responseTooLarge && folder.isUntouched)
        try await client.download(exact, to: folder.file)
        #expect(folder.content?.utf8.count == body.count)
        let error = await failure {
            let response = try await client.stream(short)
            _ = try await response.body.all()
            return response
        }
        #expect(error?.code == .responseTooLarge && error?.response?.status == 200)
        #expect(try await client.stream(exact).body.data() == body)
        await server.stop()
    }

    @Test func `each delivery has a separate default limit`() {
        var request = HTTPRequest()
        #expect(request.responseLimit == 64 << 20)
        request.responseDelivery = .file(URL(filePath: "/x"))
        #expect(request.responseLimit == 16 << 30)
        request.responseDelivery = .streamed
        #expect(request.responseLimit == .max)
        request.responseLimit = 5
        #expect(request.responseLimit == 5)
    }

    @Test func `a response that is saved and cannot be decoded does not change the file`() async throws {
        func saved<Value: Sendable>(_ template: TestEndpoint<Value>) -> TestEndpoint<Value> {
            template.with { $0.options.responseDelivery = .file(folder.file) }
        }
        let error = await failure { try await client().send(saved(TestEndpoint("a", answering: Person.self))) }
        #expect(error?.code == .emptyResponse && folder.isUntouched)
        let value = try await client().sendWithResponse(saved(TestEndpoint("a", answering: Void.self)))
        #expect(folder.content == "after" && value.response.savedFile == folder.file)
    }

    @Test func `the request of a retry alternate is not saved to the file of the download`() async throws {
        let mock = StubLoader().on(.any("/token")) { _ in .status(200, body: Data("t1".utf8)) }
            .on(.any()) { call in
                .status(call.request.headers["Authorization"] == "t1" ? 200 : 401, body: Data("after".utf8))
            }
        let token = ClosureValidator(
            sending: { original, _ in
                var request = original
                request.path = "/token"
                return request
            },
            onResponse: { request, response in
                request.headers["Authorization"] = String(decoding: try await response.body.data(), as: UTF8.self)
            })
        let client = HTTPClient(
            environment: .of("https://h"), validators: [token, DefaultValidator()],
            retrying: Backoff(maximumRetries: 1), transport: mock)
        let response = try await client.download(TestEndpoint("a"), to: folder.file)
        #expect(response.status == 200 && folder.content == "after" && folder.files == ["saved"])
    }

    // MARK: A response that replaces the one of the transport replaces the download.

    /// Replaces each response by a new one.
    private struct Rebuild: LoaderLink {
        var body = HTTPResponseBody()

        func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
            let response = try await next.load(request)
            return HTTPResponse(request: request, status: 200, headers: response.headers, body: body)
        }
    }

    @Test func `a download that saved no file, because its response was replaced, is an error`() async throws {
        let refused = ClosureValidator { _, _ in .failChain(URLError(.unknown)) }
        let unfounded = client(attemptLinks: Rebuild(), over: Self.answering(404))
        let folder = try DownloadFolder()
        for client in [client(links: Rebuild()), client(attemptLinks: Rebuild()), unfounded] {
            let error = await failure { try await client.download(TestEndpoint("a"), to: folder.file) }
            #expect(error?.code == .cannotSaveResponse && folder.files.isEmpty)
        }
        // What a validator refused is not saved for the response that the template puts in its place.
        let rebuilding = Finishing { HTTPResponse(request: (try? $0.get().request) ?? HTTPRequest(), status: 200) }
        for client in [client(), client(validators: [refused])] {
            let error = await failure { try await client.download(rebuilding, to: folder.file) }
            #expect(error?.code == .cannotSaveResponse && folder.files.isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func `a download saves the body that a link or finish has set`(isStreamed: Bool) async throws {
        let body = { @Sendable in
            isStreamed ? StreamedBody.of("other", piecesOf: 2) : HTTPResponseBody(Data("other".utf8))
        }
        let change = ModifyResponse { $0.body = body() }
        for client in [client(links: change), client(attemptLinks: change), client(links: Rebuild(body: body()))] {
            let folder = try DownloadFolder()
            let response = try await client.download(TestEndpoint("a"), to: folder.file)
            #expect(response.savedFile == folder.file && response.savedByteCount == 5)
            #expect(response.body.buffered == Data() && folder.content == "other" && folder.files == ["saved"])
        }
        let folder = try DownloadFolder()
        let request = try HTTPRequest("https://h/a").with { $0.responseDelivery = .file(folder.file) }
        _ = try await client(links: change).send(request)
        #expect(folder.content == "other" && folder.files == ["saved"])
        let other = try DownloadFolder()
        let changing = Finishing { result in
            var response = try result.get()
            response.body = HTTPResponseBody(Data("other".utf8))
            return response
        }
        _ = try await client().download(changing, to: other.file)
        #expect(other.content == "other" && other.files == ["saved"])
    }

    @Test func `a new body that throws leaves no file`() async throws {
        let folder = try DownloadFolder()
        let change = ModifyResponse {
            $0.body = HTTPResponseBody(length: nil) { throw URLError(.networkConnectionLost) }
        }
        let error = await failure { try await client(links: change).download(TestEndpoint("a"), to: folder.file) }
        #expect(error?.code == .cannotSaveResponse && folder.files.isEmpty)
    }

    @Test func `cancelling a download whose body a link has replaced throws CancellationError`() async throws {
        let folder = try DownloadFolder()
        let reached = OneShot<Void>()
        let change = ModifyResponse {
            $0.body = HTTPResponseBody(length: nil) {
                reached.set(())
                try await Task.sleep(for: .seconds(3_600))
                return nil
            }
        }
        let load = Task { try await client(links: change).download(TestEndpoint("a"), to: folder.file) }
        await reached.value
        load.cancel()
        await #expect(throws: CancellationError.self) { try await load.value }
        #expect(folder.files.isEmpty)
    }

    /// Writes each body to a file itself.
    private struct Save: LoaderLink {
        let draft: URL
        let ends: Counter

        func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
            var response = HTTPResponse(request: request, status: 200)
            return try await request.withHTTPErrors {
                try Data("link".utf8).write(to: draft)
                guard case .file(let place) = request.responseDelivery else { return response }
                response.setSavedFile(draft, byteCount: 4, for: place) { [ends] in ends.next() }
                return response
            }
        }
    }

    @Test(arguments: [true, false])
    func `a file that a link has written takes the place of the destination, unless it is refused`(
        isAccepted: Bool
    ) async throws {
        let (folder, ends) = (try DownloadFolder(), Counter())
        let client = client(links: Save(draft: folder.directory.url.appending(path: "part"), ends: ends))
        let template = TestEndpoint("a").accepting(isAccepted ? [200] : [201])
        let response = try? await client.download(template, to: folder.file)
        #expect(response?.savedByteCount == (isAccepted ? 4 : nil))
        #expect(folder.content == (isAccepted ? "link" : nil) && folder.files == (isAccepted ? ["saved"] : []))
        #expect(ends.value == 1)
    }

    @Test func `the request of a failed download can be sent again by a client and by a chain`() async throws {
        let folder = try DownloadFolder()
        let mock = Self.answering().then { HTTPResponse(request: $0, status: 302, headers: ["Location": "/b"]) }
        let seen = Mutex<[HTTPRequest]>([])
        let judge = ClosureValidator { response, _ in
            seen.withLock { $0.append(response.request) }
            return .failChain(URLError(.unknown))
        }
        let error = try await #require(throws: HTTPError.self) {
            try await client(validators: [judge], over: mock).download(TestEndpoint("a"), to: folder.file)
        }
        let response = try #require(error.response)
        let redirect = try #require(response.redirects.first)
        #expect(folder.files.isEmpty && response.savedFile == nil)
        let told = [error.request, response.request, redirect.request, redirect.target]
        for request in told + seen.withLock({ $0 }) {
            let again = try await client().send(request)
            #expect(again.savedFile == folder.file && folder.content == "after" && folder.files == ["saved"])
            try FileManager.default.removeItem(at: folder.file)
            // A loader alone saves to a hidden file, which is removed with the response.
            let response = try await (Retry() --> Self.answering()).load(request)
            #expect(folder.files == [response.savedFile?.lastPathComponent] && folder.files != ["saved"])
        }
        #expect(folder.files.isEmpty)
    }

    @Test func `a client that is the transport of another one leaves the file to the outer client`() async throws {
        let folder = try DownloadFolder("before")
        let inner = client()
        let transport = AnyLoader { try await inner.send($0) }
        let refused = ClosureValidator { _, _ in .failChain(URLError(.unknown)) }
        _ = await #expect(throws: HTTPError.self) {
            try await client(validators: [refused], over: transport).download(TestEndpoint("a"), to: folder.file)
        }
        #expect(folder.content == "before" && folder.files == ["saved"])
        let response = try await client(over: transport).download(TestEndpoint("a"), to: folder.file)
        #expect(folder.content == "after" && response.savedFile == folder.file && folder.files == ["saved"])
    }

    @Test func `an error response to a download is at most 64 MiB, with every limit of the download`() async throws {
        let folder = try DownloadFolder()
        for length in [nil, 400 << 20] {
            let count = Counter()
            let mock = MockLoader { request in
                let body = HTTPResponseBody(length: length) { count.next() > 400 ? nil : Data(count: 1 << 20) }
                return HTTPResponse(request: request, status: 404, body: body)
            }
            let error = await #expect(throws: HTTPError.self) {
                try await client(over: mock).download(TestEndpoint("a").responseLimit(8 << 30), to: folder.file)
            }
            #expect(error?.code == .unacceptableStatus && error?.message.contains("responseLimit") == true)
            #expect(count.value == (length == nil ? 65 : 0))
        }
        var request = HTTPRequest()
        request.responseLimit = 8 << 30
        #expect(request.bufferLimit == 8 << 30)
        request.responseDelivery = .streamed
        #expect(request.bufferLimit == 64 << 20)
        request.responseLimit = 5
        #expect(request.bufferLimit == 5)
    }
}

extension Data {
    /// A response with these bytes, with or without their length in its head.
    fileprivate func response(isLengthKnown: Bool) -> MockServer.Response {
        guard !isLengthKnown else { return MockServer.Response(body: self) }
        let (chunks, continuation) = AsyncStream.makeStream(of: Data.self)
        for _ in 0..<3 { continuation.yield(Data(prefix(count / 3))) }
        continuation.finish()
        return MockServer.Response(chunks: chunks)
    }
}

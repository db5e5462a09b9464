// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

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

    private struct Finishing: RequestTemplate {
        var path: RequestPath { "a" }
        func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse { throw Refusal() }
    }

    private let folder: DownloadFolder

    init() throws { folder = try DownloadFolder("before") }

    private func client(_ server: MockServer, _ transport: Transport) -> HTTPClient {
        HTTPClient(environment: ServerEnvironment(baseURL: server.url), transport: transport.loader)
    }

    private func client(
        answering body: String = "after", validators: [any HTTPValidator] = [DefaultValidator()]
    ) -> HTTPClient {
        let mock = MockLoader {
            HTTPResponse(
                request: $0, status: 200, headers: ["Content-Type": "text/html"],
                body: HTTPResponseBody(Data(body.utf8)))
        }
        return HTTPClient(environment: .of("https://h"), validators: validators, transport: mock)
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
            await failure { try await client().download(Finishing(), to: folder.file) },
            await failure { try await client().download(failed, to: folder.file) },
            await failure { try await client(validators: typed).download(TestEndpoint("a"), to: folder.file) },
            await failure {
                try await client(answering: "", validators: filled).download(TestEndpoint("a"), to: folder.file)
            },
        ]
        #expect(errors.map { $0?.code } == [.unknown, .unacceptableStatus, .validationFailed, .emptyResponse])
        #expect(folder.isUntouched)
        // What was saved counts: a file without a byte has no type, and one with bytes is not empty.
        try await client(answering: "", validators: typed).download(TestEndpoint("a"), to: folder.file)
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
        let client = HTTPClient(environment: .of("https://h"), transport: mock)
        let template = TestEndpoint("a").validated(by: judge).maximumRetries(1)
        let response = try await client.download(template, to: folder.file)
        #expect(folder.content == "attempt 2" && folder.files == ["saved"])
        #expect(response.savedFile == folder.file && response.savedByteCount == 9)
        #expect(response.body.buffered?.isEmpty == true)
    }

    @Test func `a plain request and a handle replace the file only at the end, and a chain alone never does`()
        async throws
    {
        let transport = MockLoader { .ok($0, body: Data("after".utf8)) }
        let (client, chain) = (HTTPClient(transport: transport), Retry() --> transport)
        var request = try HTTPRequest("https://h/a")
        request.responseDelivery = .file(folder.file)
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
        let whole = request
        let response = try await withCheckedContinuation { ended in
            chain.start(whole) { ended.resume(returning: $0) }
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

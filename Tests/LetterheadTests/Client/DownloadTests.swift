// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Synchronization
import TestKit
import Testing

/// A download replaces its file when everything that judges a response has accepted it, and not before.
@Suite(.timeLimit(.minutes(3))) struct DownloadTests {
    typealias Transport = TransportTests.Transport

    private struct Refusal: Error {}

    private struct Finishing: RequestTemplate {
        var path: RequestPath { "a" }
        func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse { throw Refusal() }
    }

    /// A folder with a file that was there before.
    private final class Folder: Sendable {
        let url = FileManager.default.temporaryDirectory.appending(path: "download-\(UInt64.random(in: 0 ... .max))")
        var file: URL { url.appending(path: "saved") }

        init() throws {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            try Data("before".utf8).write(to: file)
        }

        deinit { try? FileManager.default.removeItem(at: url) }

        var content: String? { try? String(contentsOf: file, encoding: .utf8) }
        var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? [] }
        var isUntouched: Bool { content == "before" && files == ["saved"] }
    }

    private func client(
        _ server: MockServer, _ transport: Transport? = nil, validators: [any HTTPValidator] = [DefaultValidator()]
    ) -> HTTPClient {
        HTTPClient(
            environment: ServerEnvironment(baseURL: server.url), validators: validators,
            transport: transport?.loader ?? HTTPClient.defaultTransport)
    }

    @Test(arguments: Transport.allCases)
    func `a download that is not modified leaves its file unchanged`(_ transport: Transport) async throws {
        let folder = try Folder()
        let server = try await MockServer.start { _ in MockServer.Response(status: .notModified) }
        let template = TestEndpoint("a").header("If-None-Match", "\"x\"")
        let response = try await client(server, transport).download(template, to: folder.file)
        #expect(response.status == .notModified && response.savedFile == nil && response.savedByteCount == nil)
        #expect(folder.isUntouched)
        await server.stop()
    }

    @Test(arguments: Transport.allCases)
    func `a download that a validator refuses does not change the file`(_ transport: Transport) async throws {
        let folder = try Folder()
        let server = try await MockServer.start { _ in .text("after") }
        let seen = Mutex<Data?>(nil)
        let judge = ClosureValidator { response, _ in
            #expect(response.savedByteCount == 5)
            if let file = response.savedFile { seen.withLock { $0 = try? Data(contentsOf: file) } }
            return .failChain(Refusal())
        }
        let error = await #expect(throws: HTTPError.self) {
            try await client(server, transport).download(TestEndpoint("a").validated(by: judge), to: folder.file)
        }
        #expect(error?.code == .validationFailed && error?.response?.status == 200)
        #expect(seen.withLock { $0 } == Data("after".utf8))
        #expect(folder.isUntouched)
        await server.stop()
    }

    @Test(arguments: Transport.allCases, ["PK\u{3}\u{4}archive", "<html>"])
    func `a validator checks the first bytes of a download before it replaces the file`(
        _ transport: Transport, content: String
    ) async throws {
        let folder = try Folder()
        let server = try await MockServer.start { _ in .text(content) }
        let judge = ClosureValidator { response, _ in
            guard let draft = response.savedFile else { return .failChain(Refusal()) }
            #expect(draft != folder.file && folder.content == "before")
            let start = try FileHandle(forReadingFrom: draft).read(upToCount: 4)
            return start == Data("PK\u{3}\u{4}".utf8) ? .nextValidator : .failChain(.invalidResponse, "no archive")
        }
        let (client, template) = (client(server, transport), TestEndpoint("a").validated(by: judge))
        if content == "<html>" {
            let error = await #expect(throws: HTTPError.self) { try await client.download(template, to: folder.file) }
            #expect(error?.message == "no archive" && folder.isUntouched)
        } else {
            let response = try await client.download(template, to: folder.file)
            #expect(response.savedFile == folder.file && folder.content == content)
        }
        await server.stop()
    }

    @Test(arguments: Transport.allCases)
    func `a download that finish refuses does not change the file`(_ transport: Transport) async throws {
        let folder = try Folder()
        let server = try await MockServer.start { _ in .text("after") }
        await #expect(throws: HTTPError.self) {
            try await client(server, transport).download(Finishing(), to: folder.file)
        }
        #expect(folder.isUntouched)
        await server.stop()
    }

    @Test func `a status that a transformer sets counts before the file is replaced`() async throws {
        let folder = try Folder()
        let server = try await MockServer.start { _ in .text("after") }
        let honest = ModifyResponse { $0.status = 500 }
        let error = await #expect(throws: HTTPError.self) {
            try await client(server).download(TestEndpoint("a").transformed(by: honest), to: folder.file)
        }
        #expect(error?.code == .unacceptableStatus)
        #expect(folder.isUntouched)
        await server.stop()
    }

    @Test func `a download that is retried saves what was accepted`() async throws {
        let folder = try Folder()
        let count = Mutex(0)
        let server = try await MockServer.start { _ in
            .text("attempt \(count.withLock { $0 += 1; return $0 })")
        }
        let judge = ClosureValidator { response, request in
            request.attemptNumber == 1 ? .retry(.immediate) : .nextValidator
        }
        let template = TestEndpoint("a").validated(by: judge).maximumRetries(1)
        let response = try await client(server).download(template, to: folder.file)
        #expect(folder.content == "attempt 2" && folder.files == ["saved"])
        #expect(response.savedFile == folder.file && response.savedByteCount == 9)
        #expect(response.body.buffered?.isEmpty == true)
        await server.stop()
    }

    @Test func `a plain request and a handle replace the file only at the end, and a chain alone never does`()
        async throws
    {
        let folder = try Folder()
        let server = try await MockServer.start { _ in .text("after") }
        var request = HTTPRequest(url: server.url)
        request.responseDelivery = .file(folder.file)
        request.validators = [ClosureValidator { _, _ in .failChain(Refusal()) }]
        let refused = request
        await #expect(throws: HTTPError.self) { try await client(server).send(refused) }
        await #expect(throws: HTTPError.self) { try await (Retry() --> HTTPClient.defaultTransport).load(refused) }
        #expect(folder.isUntouched)
        request.validators = []
        request.acceptedStatuses = [201]
        let unaccepted = request
        await #expect(throws: HTTPError.self) { try await client(server).send(unaccepted) }
        #expect(folder.isUntouched)
        request.acceptedStatuses = nil
        let chain = Retry() --> HTTPClient.defaultTransport
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
        _ = try await client(server).send(response.request)
        #expect(folder.content == "after" && folder.files == ["saved"])
        await server.stop()
    }

    @Test func `the content type of a download is checked if a file was saved`() async throws {
        let folder = try Folder()
        let server = try await MockServer.start { request in
            request.path == "/none" ? MockServer.Response(headers: ["Content-Type": "text/html"]) : .text("<html>")
        }
        let client = client(server, validators: [ContentTypeValidator(["application/json"])])
        let error = await #expect(throws: HTTPError.self) {
            try await client.download(TestEndpoint("a"), to: folder.file)
        }
        #expect(error?.code == .validationFailed)
        #expect(folder.isUntouched)
        try await client.download(TestEndpoint("none"), to: folder.file)
        #expect(folder.content == "")
        await server.stop()
    }

    @Test func `a download is empty when nothing was saved`() async throws {
        let folder = try Folder()
        let server = try await MockServer.start { request in request.path == "/none" ? .text("") : .text("after") }
        let client = client(server, validators: [DefaultValidator(allowsEmptyResponses: false)])
        let error = await #expect(throws: HTTPError.self) {
            try await client.download(TestEndpoint("none"), to: folder.file)
        }
        #expect(error?.code == .emptyResponse)
        #expect(folder.isUntouched)
        try await client.download(TestEndpoint("a"), to: folder.file)
        #expect(folder.content == "after")
        await server.stop()
    }

    @Test(arguments: Transport.allCases, [true, false])
    func `the limit applies to a download of known and of unknown length`(
        _ transport: Transport, isLengthKnown: Bool
    ) async throws {
        let folder = try Folder()
        let body = Data(repeating: UInt8(ascii: "x"), count: 300_000)
        let server = try await MockServer.start { _ in body.response(isLengthKnown: isLengthKnown) }
        let client = client(server, transport)
        let error = await #expect(throws: HTTPError.self) {
            try await client.download(TestEndpoint("a").responseLimit(body.count - 1), to: folder.file)
        }
        #expect(error?.code == .responseTooLarge)
        #expect(folder.isUntouched)
        try await client.download(TestEndpoint("a").responseLimit(body.count), to: folder.file)
        #expect(folder.content?.utf8.count == body.count)
        await server.stop()
    }

    @Test(arguments: Transport.allCases, [true, false])
    func `the limit applies to a stream of known and of unknown length`(
        _ transport: Transport, isLengthKnown: Bool
    ) async throws {
        let body = Data(repeating: UInt8(ascii: "x"), count: 300_000)
        let server = try await MockServer.start { _ in body.response(isLengthKnown: isLengthKnown) }
        let client = client(server, transport)
        let error = await #expect(throws: HTTPError.self) {
            let response = try await client.stream(TestEndpoint("a").responseLimit(body.count - 1))
            var count = 0
            for try await chunk in response.body { count += chunk.count }
            Issue.record("\(count) bytes came without an error")
        }
        #expect(error?.code == .responseTooLarge && error?.response?.status == 200)
        let response = try await client.stream(TestEndpoint("a").responseLimit(body.count))
        #expect(try await response.body.data() == body)
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
        let folder = try Folder()
        let stubs = StubLoader().on(.any()) { _ in .status(200, body: Data("after".utf8)) }
        let client = HTTPClient.over(stubs)
        let template = TestEndpoint("a", answering: Person.self).with {
            $0.options.responseDelivery = .file(folder.file)
        }
        let error = await #expect(throws: HTTPError.self) { try await client.send(template) }
        #expect(error?.code == .emptyResponse && folder.isUntouched)
        let saved = try await client.sendWithResponse(
            TestEndpoint("a", answering: Void.self).with { $0.options.responseDelivery = .file(folder.file) })
        #expect(folder.content == "after" && saved.response.savedFile == folder.file)
    }

    @Test func `the request of a retry alternate is not saved to the file of the download`() async throws {
        let folder = try Folder()
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

    @Test func `a download works with a mock as with a server`() async throws {
        let folder = try Folder()
        let stubs = StubLoader().on(
            .any(), inOrder: .status(404, body: Data("missing".utf8)), .status(200, body: Data("after".utf8)))
        let client = HTTPClient.over(stubs)
        let error = await #expect(throws: HTTPError.self) {
            try await client.download(TestEndpoint("a"), to: folder.file)
        }
        #expect(error?.response?.body.buffered == Data("missing".utf8) && folder.isUntouched)
        let response = try await client.download(TestEndpoint("a"), to: folder.file)
        #expect(folder.content == "after" && response.body.buffered?.isEmpty == true)
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

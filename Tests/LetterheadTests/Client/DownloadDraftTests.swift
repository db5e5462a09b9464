// SPDX-License-Identifier: MIT
import Foundation
import LetterheadTesting
import Synchronization
import TestKit
import Testing

@testable import Letterhead

/// A download that succeeds has saved its file. A response that replaces the one of the transport replaces the
/// download.
@Suite(.timeLimit(.minutes(3))) struct DownloadDraftTests {
    /// Replaces each response by a new one.
    private struct Rebuild: LoaderLink {
        var body = HTTPResponseBody()

        func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
            let response = try await next.load(request)
            return HTTPResponse(request: request, status: 200, headers: response.headers, body: body)
        }
    }

    /// Replaces the response at the end.
    private struct Rebuilding: RequestTemplate {
        var path: RequestPath { "a" }
        func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse {
            let request = (try? result.get().request) ?? HTTPRequest()
            return HTTPResponse(request: request, status: 200)
        }
    }

    private static func answering(_ status: HTTPStatus = 200) -> MockLoader {
        MockLoader {
            HTTPResponse(
                request: $0, status: status, headers: ["Content-Type": "text/html"],
                body: HTTPResponseBody(Data("after".utf8)))
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

    @Test func `a download that saved no file, because its response was replaced, is an error`() async throws {
        let refused = ClosureValidator { _, _ in .failChain(URLError(.unknown)) }
        let unfounded = client(attemptLinks: Rebuild(), over: Self.answering(404))
        let folder = try DownloadFolder()
        for client in [client(links: Rebuild()), client(attemptLinks: Rebuild()), unfounded] {
            let error = await failure { try await client.download(TestEndpoint("a"), to: folder.file) }
            #expect(error?.code == .cannotSaveResponse && folder.files.isEmpty)
        }
        // What a validator refused is not saved for the response that the template puts in its place.
        for client in [client(), client(validators: [refused])] {
            let error = await failure { try await client.download(Rebuilding(), to: folder.file) }
            #expect(error?.code == .cannotSaveResponse && folder.files.isEmpty)
        }
    }

    /// Sets another body at the end.
    private struct Signing: RequestTemplate {
        var path: RequestPath { "a" }
        func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse {
            var response = try result.get()
            response.body = HTTPResponseBody(Data("other".utf8))
            return response
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
        var request = try HTTPRequest("https://h/a")
        request.responseDelivery = .file(folder.file)
        _ = try await client(links: change).send(request)
        #expect(folder.content == "other" && folder.files == ["saved"])
        let other = try DownloadFolder()
        _ = try await client().download(Signing(), to: other.file)
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
        let transport = AnyLoader { request in
            do { return try await inner.send(request) } catch { throw HTTPError(error, request: request) }
        }
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
            let count = Mutex(0)
            let mock = MockLoader { request in
                let body = HTTPResponseBody(length: length) {
                    count.withLock {
                        $0 += 1; return $0 > 400 ? nil : Data(count: 1 << 20)
                    }
                }
                return HTTPResponse(request: request, status: 404, body: body)
            }
            let error = await #expect(throws: HTTPError.self) {
                try await client(over: mock).download(TestEndpoint("a").responseLimit(8 << 30), to: folder.file)
            }
            #expect(error?.code == .unacceptableStatus && error?.message.contains("responseLimit") == true)
            #expect(count.withLock { $0 } == (length == nil ? 65 : 0))
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

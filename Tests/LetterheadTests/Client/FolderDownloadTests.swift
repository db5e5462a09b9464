// SPDX-License-Identifier: MIT
import Foundation
import LetterheadTesting
import TestKit
import Testing

@testable import Letterhead

/// A download into a folder takes the name that the server suggests, and never another file's place.
@Suite(.timeLimit(.minutes(3))) struct FolderDownloadTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.url.path)) ?? []).sorted()
    }

    private func content(_ name: String) -> String? {
        try? String(contentsOf: folder.url.appending(path: name), encoding: .utf8)
    }

    /// Each response's body is the last component of its path.
    private static func mock(_ status: HTTPStatus = 200, name: String? = "a.txt") -> MockLoader {
        MockLoader { request in
            var headers = HTTPHeaders()
            if let name { headers[.contentDisposition] = "attachment; filename=\"\(name)\"" }
            let body = HTTPResponseBody(Data((request.path.segments.last ?? "").utf8))
            return HTTPResponse(request: request, status: status, headers: headers, body: body)
        }
    }

    private func client(
        _ transport: any HTTPLoader = mock(), validators: [any HTTPValidator] = [DefaultValidator()]
    ) -> HTTPClient {
        HTTPClient(environment: .of("https://h"), validators: validators, transport: transport)
    }

    @Test(arguments: TransportTests.Transport.allCases)
    func `the field names the file, and after a redirect the final URL`(_ transport: TransportTests.Transport)
        async throws
    {
        let server = try await MockServer.start { request in
            var response = MockServer.Response.text("new")
            switch request.path {
            case "/moved": response = MockServer.Response(status: 302, headers: ["Location": "/files/b%20c.txt"])
            case "/named": response.headers[.contentDisposition] = "attachment; filename*=UTF-8''na%C3%AFve.txt"
            default: break
            }
            return response
        }
        let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url), transport: transport.loader)
        let files = [
            try await client.download(TestEndpoint("named"), into: folder.url),
            try await client.download(TestEndpoint("moved"), into: folder.url),
            try await client.download(HTTPRequest(url: server.url), into: folder.url),
        ]
        #expect(files.map(\.lastPathComponent) == ["naïve.txt", "b c.txt", "download"])
        #expect(names.count == 3 && names.allSatisfy { content($0) == "new" })
        await server.stop()
    }

    @Test func `a file that exists is not replaced`() async throws {
        let old = try folder.file("a.txt", Data("old".utf8))
        let files = [
            try await client().download(TestEndpoint("1"), into: folder.url),
            try await client().download(TestEndpoint("2"), into: folder.url),
        ]
        #expect(files.map(\.lastPathComponent) == ["a-1.txt", "a-2.txt"] && names == ["a-1.txt", "a-2.txt", "a.txt"])
        #expect(try String(contentsOf: old, encoding: .utf8) == "old" && content("a-1.txt") == "1")
        #expect(try String(contentsOf: files[1], encoding: .utf8) == "2")
    }

    @Test(arguments: ["file", "nothing", "directory"])
    func `a link or a directory with the name is left alone`(kind: String) async throws {
        let outside = try TemporaryDirectory()
        let target = outside.url.appending(path: "target")
        let place = folder.url.appending(path: "a.txt")
        switch kind {
        case "directory": try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        case "file": _ = try outside.file("target", Data("old".utf8))
        default: break
        }
        if kind != "directory" { try FileManager.default.createSymbolicLink(at: place, withDestinationURL: target) }
        let file = try await client().download(TestEndpoint("1"), into: folder.url)
        #expect(file.lastPathComponent == "a-1.txt" && content("a-1.txt") == "1" && names == ["a-1.txt", "a.txt"])
        #expect((try? Data(contentsOf: target)) == (kind == "file" ? Data("old".utf8) : nil))
    }

    @Test func `downloads at the same time have different files`() async throws {
        let client = client()
        let contents = try await withThrowingTaskGroup(of: (URL, Int).self) { group in
            for number in 0..<20 {
                group.addTask { (try await client.download(TestEndpoint("\(number)"), into: folder.url), number) }
            }
            return try await group.reduce(into: [URL: Int]()) { $0[$1.0] = $1.1 }
        }
        #expect(contents.count == 20 && names.count == 20)
        #expect(contents.allSatisfy { content($0.key.lastPathComponent) == "\($0.value)" })
        #expect(Set(names) == Set((1..<20).map { "a-\($0).txt" } + ["a.txt"]))
    }

    @Test func `names in code or with escapes name files in the folder`() async throws {
        for name in ["~", "a?b#c", "a:b", "%252e%252e%252fa", "..\\\\..\\\\b", String(repeating: "c", count: 300)] {
            let file = try await client(Self.mock(name: name)).download(TestEndpoint("1"), into: folder.url)
            #expect(content(file.lastPathComponent) == "1")
        }
        #expect(names.map { $0.prefix(9) } == ["%2e%2e%2f", "a:b", "a?b#c", "b", "ccccccccc", "~"])
    }

    @Test func `a response that is refused, unaccepted, not modified or removed leaves nothing`() async throws {
        let refused = ClosureValidator { response, _ in
            #expect(response.suggestedFilename == "a.txt" && response.savedFile != nil)
            return .failChain(URLError(.unknown))
        }
        // Another program may remove the hidden file.
        let removing = ClosureValidator { response, _ in
            if let file = response.savedFile { try FileManager.default.removeItem(at: file) }
            return .nextValidator
        }
        let template = TestEndpoint("a").header("If-None-Match", "\"x\"")
        let refusals: [(HTTPClient, HTTPError.Code)] = [
            (client(validators: [refused]), .validationFailed), (client(Self.mock(404)), .unacceptableStatus),
            (client(Self.mock(304)), .cannotSaveResponse), (client(validators: [removing]), .cannotSaveResponse),
        ]
        for (client, code) in refusals {
            let error = await #expect(throws: HTTPError.self) { try await client.download(template, into: folder.url) }
            #expect(error?.code == code && names.isEmpty)
        }
    }

    @Test func `a folder that does not exist is refused before anything is sent`() async throws {
        let mock = Self.mock()
        let missing = folder.url.appending(path: "missing")
        let error = await failure { try await client(mock).download(TestEndpoint("a"), into: missing) }
        #expect(error?.code == .cannotSaveResponse && mock.requests.isEmpty)
    }

    @Test func `a request that is sent again is saved under a new name`() async throws {
        var request = try HTTPRequest("https://h/1")
        request.deliver(into: folder.url)
        let first = try await client().send(request)
        let second = try await client().send(first.request)
        #expect(first.savedFile?.lastPathComponent == "a.txt" && first.savedByteCount == 1)
        #expect(second.savedFile?.lastPathComponent == "a-1.txt" && names == ["a-1.txt", "a.txt"])
    }

    @Test func `a request that failed for a folder can be saved to a file`() async throws {
        let error = await failure { try await client(Self.mock(404)).download(TestEndpoint("1"), into: folder.url) }
        let file = folder.url.appending(path: "b.txt")
        let response = try await client().download(try #require(error?.request), to: file)
        #expect(response.savedFile == file && names == ["b.txt"])
    }

    @Test func `a client that is the transport of another one leaves the name to the outer client`() async throws {
        let inner = client()
        let transport = AnyLoader { try await inner.send($0) }
        let renamed = ModifyResponse { $0.headers[.contentDisposition] = "attachment; filename=b.txt" }
        let client = client(transport).transformed(by: renamed)
        #expect(try await client.download(TestEndpoint("1"), into: folder.url).lastPathComponent == "b.txt")
        #expect(names == ["b.txt"])
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import LetterheadTransfers
import Synchronization
import TestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct ResumedDownloadTests {
    /// Downloads without continuing within the call.
    @discardableResult
    func download(
        _ server: MockServer, to folder: Folder, _ template: any RequestTemplate = Get<HTTPResponse>("a"),
        resuming: DownloadResumption = .fromPart, digest: ContentDigest? = nil
    ) async throws -> HTTPResponse {
        try await download(server.client(), to: folder, template, resuming: resuming, digest: digest)
    }

    /// Downloads and continues so many times within the call.
    @discardableResult
    private func download(
        _ client: HTTPClient, to folder: Folder, _ template: any RequestTemplate = Get<HTTPResponse>("a"),
        resuming: DownloadResumption = .fromPart, digest: ContentDigest? = nil, continuing count: Int = 0
    ) async throws -> HTTPResponse {
        try await client.download(
            template, to: folder.file, resuming: resuming, digest: digest, continuing: .immediately(count))
    }

    /// A folder with a download that has broken off after so many bytes.
    func interrupted(
        _ server: MockServer, _ template: any RequestTemplate = Get<HTTPResponse>("a"),
        resuming: DownloadResumption = .fromPart
    ) async throws -> Folder {
        let folder = try Folder()
        await #expect(throws: HTTPError.self) { try await download(server, to: folder, template, resuming: resuming) }
        #expect(folder.isUntouched)
        return folder
    }

    @Test func `a later call requests only the rest`() async throws {
        let server = try await Script([served(cutAt: 40_000), served(cutAt: 10_000), served()]).server()
        let folder = try await interrupted(server)
        #expect(folder.partCount == 40_000)
        await #expect(throws: HTTPError.self) { try await download(server, to: folder) }
        #expect(folder.partCount == 50_000)
        let response = try await download(server, to: folder)
        #expect(response.status == .ok && response.headers[.contentLength] == "100000")
        #expect(response.headers[.contentRange] == nil && folder.isComplete)
        #expect(response.savedFile == folder.file && response.savedByteCount == content.count)
        #expect(server.ranges == [nil, "bytes=40000-", "bytes=50000-"])
        #expect(server.requests.last?.headers[.ifRange] == "\"1\"")
    }

    @Test func `the whole chain of a client is used, also over mocks`() async throws {
        let folder = try Folder()
        let mock = Mock([.broken(), .status(503), .rest()])
        let client = HTTPClient(
            environment: ServerEnvironment("https://api.example.com", headers: ["X-Tenant": "1"]),
            retrying: Backoff(.immediate, maximumRetries: 1), transport: mock.loader)
        try await download(client, to: folder, continuing: 1)
        #expect(folder.saved == Data("abcdef".utf8) && folder.names == ["video.mp4"])
        #expect(mock.requests.count == 3 && mock.requests.allSatisfy { $0.headers["X-Tenant"] == "1" })
    }

    @Test(arguments: [false, true])
    func `a server that is down is asked again as often as the policy allows, and the waits are told`(
        isLater: Bool
    ) async throws {
        let (folder, recorder) = (try Folder(), EventRecorder())
        let own = Mutex<[Int]>([])
        let down: MockLoader.Handler = { throw HTTPError(.cannotConnect, request: $0, mayHaveBeenSent: false) }
        let mock = MockLoader { request in
            HTTPResponse(request: request, status: .ok, headers: ["ETag": "\"1\""], body: HTTPResponseBody(content))
        }
        let client = HTTPClient(
            environment: ServerEnvironment("https://api.example.com"), observers: [recorder], transport: mock)
        let template = Get<HTTPResponse>("a").onRetry { retry in own.withLock { $0.append(retry.retry) } }
        mock.then(down).then { HTTPResponse(request: $0, status: 503) }.then(down)
        if isLater {
            try await download(client, to: folder, template, continuing: 3)
            #expect(folder.isComplete && mock.requests.count == 4)
        } else {
            let error = await failure { try await download(client, to: folder, template, continuing: 2) }
            #expect(error?.code == .cannotConnect && error?.attempts.count == 3 && error?.mayHaveBeenSent == true)
            #expect(folder.isUntouched && folder.names == ["video.mp4"])
        }
        #expect(own.withLock { $0 } == (isLater ? [1, 2, 3] : [1, 2]))
        let events = recorder.events.filter { $0.name == .retryDecided && $0[.isRetried] == true }
        #expect(events.count == (isLater ? 3 : 2) && events.allSatisfy { $0[.reason] == "the download continues" })
    }

    @Test func `the last response of a server that stays busy is the error of the call`() async throws {
        let server = try await Script([{ _ in MockServer.Response(status: 503, body: Data("later".utf8)) }]).server()
        let folder = try Folder()
        let error = await failure { try await download(server.client(), to: folder, continuing: 2) }
        #expect(error?.code == .unacceptableStatus && error?.attempts.count == 3 && server.requests.count == 3)
        #expect(error?.response?.body.buffered == Data("later".utf8) && folder.names == ["video.mp4"])
        await server.stop()
    }

    @Test(arguments: [(0, 4), (1, 4), (3, 4), (9, 10)], [false, true])
    func `retries of the request and the download don't multiply`(
        _ numbers: (retries: Int, requests: Int), isAsked: Bool
    ) async throws {
        let (retries, requests) = numbers
        let asking = ClosureValidator { response, _ in
            isAsked && response.status == 503 ? .retry(.immediate) : .nextValidator
        }
        let server = try await Script([{ _ in MockServer.Response(status: 503) }]).server()
        let folder = try Folder()
        let template = Get<HTTPResponse>("a").validated(by: asking).retry(.immediate, maximumRetries: retries)
        let error = await failure { try await download(server.client(), to: folder, template, continuing: 3) }
        let code: HTTPError.Code = isAsked && retries > 0 ? .retriesExhausted : .unacceptableStatus
        #expect(error?.code == code && server.requests.count == requests)
        #expect(error?.attempts.map(\.number) == Array(1...requests))
        #expect(error?.attempts.allSatisfy { $0.status == 503 } == true)
        await server.stop()
    }

    @Test(arguments: unfitRests)
    func `a part that cannot be continued starts again`(reason: String, _ step: @escaping Script.Step, requests: Int)
        async throws
    {
        let server = try await Script([served(cutAt: 40_000), step]).server()
        let folder = try await interrupted(server)
        try await download(server, to: folder)
        #expect(folder.isComplete, "\(reason)")
        #expect(server.requests.count == requests && server.ranges[1] == "bytes=40000-")
    }

    @Test func `a complete part is a success, and the server is asked whether it is current`() async throws {
        let server = try await Script([served(cutAt: 40_000), served()]).server()
        let folder = try await interrupted(server)
        try content.write(to: folder.part)
        let log = ProgressLog()
        let response = try await download(server, to: folder, Get<HTTPResponse>("a").onProgress { log.add($0) })
        #expect(folder.isComplete && response.status == .ok && response.headers[.contentLength] == "100000")
        #expect(server.ranges == [nil, "bytes=99999-"])
        #expect(log.all.map(\.fractionCompleted) == [1])
        await server.stop()
    }

    @Test func `a complete part is checked against the digest of the server`() async throws {
        let digest: Script.Step = { request in
            var response = MockServer.Response.content(content, for: request, eTag: "\"1\"")
            response.headers["Repr-Digest"] = "sha-256=:\(Self.base64):"
            return response
        }
        let server = try await Script([served(cutAt: 40_000), digest]).server()
        let folder = try await interrupted(server)
        try Data(repeating: 1, count: content.count).write(to: folder.part)
        let error = await #expect(throws: HTTPError.self) { try await download(server, to: folder) }
        #expect(error?.code == .digestMismatch && folder.isUntouched && folder.names == ["video.mp4"])
        await server.stop()
    }

    @Test func `parts of two tenants of one path are not mixed`() async throws {
        let server = try await Script([served(cutAt: 40_000), served(), served(cutAt: 40_000), served()]).server()
        let folder = try Folder()
        func client(_ tenant: String) -> HTTPClient {
            HTTPClient(environment: ServerEnvironment(baseURL: server.url, query: ["tenant": tenant]))
        }
        await #expect(throws: HTTPError.self) { try await download(client("a"), to: folder) }
        try await download(client("b"), to: folder)
        // The environment of a closure is not known before the request is sent.
        let asked = HTTPClient(environment: .provided { _ in ServerEnvironment(baseURL: server.url) })
        await #expect(throws: HTTPError.self) { try await download(asked, to: folder) }
        try await download(asked, to: folder)
        #expect(folder.isComplete && server.ranges == [nil, nil, nil, nil])
    }

    @Test(arguments: ["\"length\":-1", "\"length\":0", "\"length\":39999", "\"length\":\"x\"", "\"length\":1e99", ""])
    func `a record that is damaged starts again`(_ length: String) async throws {
        let server = try await Script([served(cutAt: 40_000), served()]).server()
        let folder = try await interrupted(server)
        let place = folder.url.appending(path: ".video.mp4.letterhead-part.json")
        let record = try String(contentsOf: place, encoding: .utf8)
        #expect(record.contains("\"length\":100000"))
        try Data(record.replacing("\"length\":100000", with: length).utf8).write(to: place)
        try await download(server, to: folder)
        #expect(folder.isComplete && server.ranges == [nil, nil])
    }

    @Test(arguments: [(".", "is a directory"), ("missing/a.mp4", "No such file or directory")])
    func `a destination that cannot be written is refused before anything is sent`(
        _ path: String, _ reason: String
    ) async throws {
        let server = try await Script([served()]).server()
        let folder = try Folder()
        let file = folder.url.appending(path: path)
        let client = server.client()
        let errors = [
            await #expect(throws: HTTPError.self) {
                try await client.download(Get<HTTPResponse>("a"), to: file, resuming: .fromPart)
            },
            await #expect(throws: HTTPError.self) { try await client.download(Get<HTTPResponse>("a"), to: file) },
        ]
        for error in errors { #expect(error?.code == .cannotSaveResponse && error?.message.contains(reason) == true) }
        #expect(server.requests.isEmpty)
        withExtendedLifetime(folder) {}
        await server.stop()
    }

    @Test func `a part that is longer than the resource starts again`() async throws {
        let server = try await Script([served(cutAt: 40_000), served()]).server()
        let folder = try await interrupted(server)
        try (content + content).write(to: folder.part)
        try await download(server, to: folder)
        #expect(folder.isComplete && server.ranges == [nil, nil])
    }

    @Test func `a response without a strong validator is not continued`() async throws {
        let server = try await Script([served(eTag: "W/\"1\"", cutAt: 40_000), served(eTag: "W/\"1\"")]).server()
        let folder = try await interrupted(server)
        #expect(folder.names == [".video.mp4.letterhead-part", "video.mp4"])
        try await download(server, to: folder)
        #expect(folder.isComplete && server.ranges == [nil, nil])
    }

    @Test(arguments: [
        ("a?sign=1", DownloadResumption.fromPart, "a?sign=1", DownloadResumption.fromPart, true),
        ("a?sign=1", .fromPart, "a?sign=2", .fromPart, false), ("a", .fromPart, "b", .fromPart, false),
        ("a?sign=1", .fromPart(key: "3"), "b?sign=2", .fromPart(key: "3"), true),
        ("a", .fromPart(key: "3"), "a", .fromPart(key: "4"), false), ("a", .fromPart, "a", .fromPart(key: "a"), false),
    ])
    func `a part belongs to its URL or its key`(
        first: String, _ one: DownloadResumption, second: String, _ other: DownloadResumption, isContinued: Bool
    ) async throws {
        let server = try await Script([served(cutAt: 40_000), served()]).server()
        let folder = try Folder()
        let client = server.client()
        await #expect(throws: HTTPError.self) {
            try await client.download(
                HTTPRequest("\(server.url)/\(first)"), to: folder.file, resuming: one, continuing: .immediately(0))
        }
        let record = try String(
            contentsOf: folder.url.appending(path: ".video.mp4.letterhead-part.json"), encoding: .utf8)
        #expect(!record.contains("sign") && !record.contains("127.0.0.1"))
        try await client.download(
            HTTPRequest("\(server.url)/\(second)"), to: folder.file, resuming: other, continuing: .immediately(0))
        #expect(folder.isComplete && server.ranges == [nil, isContinued ? "bytes=40000-" : nil])
    }

    @Test func `a part has one writer, and a cancelled one leaves it`() async throws {
        let server = try await MockServer.start { request in
            let response = MockServer.Response.content(content, for: request, eTag: "\"1\"")
            return request.headers.contains(.range) ? response : response.fault(.stall, at: .responseBody)
        }
        let folder = try Folder()
        let first = Task { try await download(server, to: folder) }
        _ = try await server.record { $0.requests.count == 1 }
        await until { folder.partCount ?? 0 > 0 }
        let error = await #expect(throws: HTTPError.self) { try await download(server, to: folder) }
        #expect(error?.code == .partInUse && error?.mayHaveBeenSent == false && server.requests.count == 1)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(folder.isUntouched && folder.partCount ?? 0 > 0)
        try await download(server, to: folder)
        #expect(folder.isComplete && server.requests.count == 2)
    }

    @Test func `a part that another download changes before the response arrives starts again, or is in use`()
        async throws
    {
        let folder = try Folder()
        let lock = Mutex<Int32?>(nil)
        let server = try await Script([
            served(cutAt: 40_000),
            { request in
                try? (content + content).prefix(50_000).write(to: folder.part)
                return served()(request)
            },
            served(cutAt: 40_000),
            { request in
                lock.withLock { $0 = open(folder.part.path, O_RDWR) }
                #expect(lock.withLock { flock($0 ?? -1, LOCK_EX | LOCK_NB) } == 0)
                return served()(request)
            },
        ]).server()
        await #expect(throws: HTTPError.self) { try await download(server, to: folder) }
        await #expect(throws: HTTPError.self) { try await download(server, to: folder) }
        #expect(server.ranges == [nil, "bytes=40000-", nil] && folder.partCount == 40_000)
        let error = await #expect(throws: HTTPError.self) { try await download(server, to: folder) }
        #expect(error?.code == .partInUse && error?.mayHaveBeenSent == true && folder.isUntouched)
        #expect(folder.partCount == 40_000)
        lock.withLock { _ = close($0 ?? -1) }
        await server.stop()
    }

    @Test func `a program that starts meanwhile, and has copies of all descriptors, does not keep the lock`()
        async throws
    {
        let folder = try Folder()
        let copies = Mutex<[Int32]>([])
        let server = try await Script([served(cutAt: 40_000), served()]).server()
        let template = Get<HTTPResponse>("a").onProgress { _ in
            var (part, file) = (stat(), stat())
            guard lstat(folder.part.path, &part) == 0 else { return }
            let open = (0..<4096).filter { fstat($0, &file) == 0 && file.st_ino == part.st_ino }
            copies.withLock { $0 += open.map(dup) }
        }
        await #expect(throws: HTTPError.self) { try await download(server, to: folder, template) }
        #expect(copies.withLock { !$0.isEmpty })
        try await download(server, to: folder)
        #expect(folder.isComplete && server.ranges == [nil, "bytes=40000-"])
        copies.withLock { $0.forEach { _ = close($0) } }
        await server.stop()
    }

    @Test func `a reset ends the wait for the next attempt, and leaves the part`() async throws {
        let (clock, folder) = (TestClock(), try Folder())
        let mock = Mock([.broken()])
        let client = HTTPClient(environment: ServerEnvironment("https://api.example.com"), transport: mock.loader)
        let download = Task {
            try await client.download(
                Get<HTTPResponse>("a"), to: folder.file, resuming: .fromPart,
                continuing: Backoff(.delayed(.seconds(60)), clock: clock))
        }
        await clock.waitForSleepers(1)
        await client.reset()
        let error = await #expect(throws: HTTPError.self) { try await download.value }
        #expect(error?.code == .cancelled && error?.message.contains("reset") == true)
        #expect(folder.isUntouched && folder.partCount == 3)
    }

    @Test func `the progress counts what was there`() async throws {
        let (log, updates) = (ProgressLog(), ProgressUpdates())
        let server = try await Script([served(cutAt: 40_000), served(cutAt: 20_000), served()]).server()
        let folder = try await interrupted(server)
        let template = Get<HTTPResponse>("a").onProgress { log.add($0) }.onProgress(updates)
        try await download(server.client(), to: folder, template, continuing: 5)
        let counts = log.all.map(\.completedBytes)
        #expect(counts.first ?? 0 > 40_000 && counts == counts.sorted() && counts.last == content.count)
        #expect(log.all.allSatisfy { $0.totalBytes == content.count })
        var last: HTTPRequest.Progress?
        for await progress in updates { last = progress }
        #expect(last?.fractionCompleted == 1)
        await server.stop()
    }

    @Test func `a status that is not accepted leaves the part for a later call`() async throws {
        let server = try await Script([
            served(cutAt: 40_000), { _ in MockServer.Response(status: 403) }, { _ in MockServer.Response(status: 304) },
            served(),
        ]).server()
        let folder = try await interrupted(server)
        let error = await #expect(throws: HTTPError.self) { try await download(server, to: folder) }
        #expect(error?.code == .unacceptableStatus && error?.response?.status == 403)
        let current = try await download(server, to: folder, Get<HTTPResponse>("a").header(.ifNoneMatch, "\"0\""))
        #expect(current.status == .notModified && current.savedFile == nil)
        #expect(folder.isUntouched && folder.partCount == 40_000)
        try await download(server, to: folder)
        #expect(folder.isComplete && server.ranges.last == "bytes=40000-")
    }

    @Test func `a load without a byte leaves nothing, and an empty resource is an empty file`() async throws {
        let server = try await Script([{ _ in MockServer.Response(status: 404) }, served(cutAt: 0), served(Data())])
            .server()
        let folder = try Folder()
        for _ in 0..<2 { await #expect(throws: HTTPError.self) { try await download(server, to: folder) } }
        #expect(folder.isUntouched && folder.names == ["video.mp4"])
        try await download(server, to: folder)
        #expect(folder.saved == Data() && folder.names == ["video.mp4"])
        await server.stop()
    }

    private struct Refusing: RequestTemplate {
        struct Refusal: Error {}
        var path: RequestPath { "a" }
        func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse {
            #expect(try result.get().savedByteCount == content.count)
            throw Refusal()
        }
    }

    @Test func `a complete file that the template refuses is removed`() async throws {
        let server = try await Script([served()]).server()
        let folder = try Folder()
        await #expect(throws: HTTPError.self) { try await download(server, to: folder, Refusing()) }
        #expect(folder.isUntouched && folder.names == ["video.mp4"])
        await server.stop()
    }

    @Test func `a file over the limit is refused before it is read`() async throws {
        let server = try await Script([served(cutAt: 40_000), served()]).server()
        let folder = try await interrupted(server)
        let log = ProgressLog()
        let limited = Get<HTTPResponse>("a").responseLimit(99_999).onProgress { log.add($0) }
        let error = await #expect(throws: HTTPError.self) { try await download(server, to: folder, limited) }
        #expect(error?.code == .responseTooLarge && folder.partCount == 40_000 && log.all.isEmpty)
        try await download(server, to: folder, Get<HTTPResponse>("a").responseLimit(100_000))
        #expect(folder.isComplete)
        await server.stop()
    }

    @Test func `a request that cannot be resumed is refused before it is sent`() async throws {
        let server = try await Script([served()]).server()
        let folder = try Folder()
        let templates: [any RequestTemplate] = [
            Post<HTTPResponse>("a"), Get<HTTPResponse>("a").header(.range, "bytes=0-1"),
        ]
        for template in templates {
            let error = await #expect(throws: HTTPError.self) { try await download(server, to: folder, template) }
            #expect(error?.code == .invalidRequest)
        }
        try FileManager.default.createDirectory(at: folder.part, withIntermediateDirectories: false)
        let error = await #expect(throws: HTTPError.self) { try await download(server, to: folder) }
        #expect(error?.code == .cannotSaveResponse && error?.description.contains("the file is a directory") == true)
        #expect(server.requests.isEmpty && folder.isUntouched)
    }

    @Test func `a link in place of the part is not followed`() async throws {
        let server = try await Script([served()]).server()
        let folder = try Folder()
        try FileManager.default.createSymbolicLink(at: folder.part, withDestinationURL: folder.file)
        let error = await #expect(throws: HTTPError.self) { try await download(server, to: folder) }
        #expect(error?.code == .cannotSaveResponse && folder.isUntouched)
        await server.stop()
    }

    @Test func `the file has the permissions of any download, also with a long name`() async throws {
        let server = try await Script([served()]).server()
        let folder = try Folder()
        let long = folder.url.appending(path: String(repeating: "é", count: 125))
        let other = folder.url.appending(path: "other")
        try await server.client().download(Get<HTTPResponse>("a"), to: long, resuming: .fromPart)
        try await server.client().download(Get<HTTPResponse>("a"), to: other)
        let permissions = try [long, other].map {
            try FileManager.default.attributesOfItem(atPath: $0.path)[.posixPermissions] as? Int
        }
        #expect(permissions[0] == permissions[1] && permissions[0] != nil && folder.names.count == 3)
        await server.stop()
    }
}

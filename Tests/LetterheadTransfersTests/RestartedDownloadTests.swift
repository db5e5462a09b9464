// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import LetterheadTransfers
import Testing

/// A resumed download starts again in the same call if the server doesn't send its rest.
@Suite(.timeLimit(.minutes(2))) struct RestartedDownloadTests {
    /// Another version of the content.
    private static let other = Data(repeating: 1, count: content.count)

    @discardableResult
    private func download(
        _ client: HTTPClient, to folder: Folder, _ template: any RequestTemplate = Get<HTTPResponse>("a"),
        digest: ContentDigest? = nil, attempts: Int = 5
    ) async throws -> HTTPResponse {
        try await client.download(
            template, to: folder.file, resuming: .fromPart, digest: digest, continuing: .immediately(attempts))
    }

    @Test(arguments: unfitRests)
    func `a call starts again if the rest after a lost connection does not fit`(
        reason: String, _ step: @escaping Script.Step, requests: Int
    ) async throws {
        let server = try await Script([served(Self.other, cutAt: 40_000), step]).server()
        let folder = try Folder()
        let response = try await download(
            server.client(), to: folder, digest: .sha256(ResumedDownloadTests.hexadecimal))
        #expect(folder.isComplete, "\(reason)")
        #expect(response.status == .ok && response.savedByteCount == content.count)
        #expect(server.ranges == [nil, "bytes=40000-"] + Array(repeating: nil, count: requests - 2))
    }

    @Test(arguments: [true, false])
    func `the digest of the new version counts`(isRight: Bool) async throws {
        let digest = isRight ? ResumedDownloadTests.base64 : "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        let server = try await Script([
            served(Self.other, cutAt: 40_000), served(eTag: "\"2\"", adding: ["Repr-Digest": "sha-256=:\(digest):"]),
        ]).server()
        let folder = try Folder()
        if isRight {
            let response = try await download(server.client(), to: folder)
            #expect(folder.isComplete && response.headers[.eTag] == "\"2\"")
        } else {
            let error = await #expect(throws: HTTPError.self) { try await download(server.client(), to: folder) }
            #expect(error?.code == .digestMismatch && folder.isUntouched && folder.names == ["video.mp4"])
        }
        #expect(server.requests.count == 2)
    }

    @Test func `the progress starts again with the body`() async throws {
        let whole = Mock.Response(headers: ["ETag": "\"2\""], pieces: ["uv", "wxyz"], length: 6)
        let mock = Mock([.broken(), whole])
        let client = HTTPClient(environment: ServerEnvironment("https://api.example.com"), transport: mock.loader)
        let (folder, log) = (try Folder(), ProgressLog())
        try await download(client, to: folder, Get<HTTPResponse>("a").onProgress { log.add($0) })
        #expect(log.all.map(\.completedBytes) == [3, 2, 6] && log.all.allSatisfy { $0.totalBytes == 6 })
        #expect(folder.saved == Data("uvwxyz".utf8) && folder.names == ["video.mp4"] && mock.requests.count == 2)
    }

    @Test func `a body that has started again is continued with its own validator, also by a later call`() async throws
    {
        let server = try await Script([
            served(Self.other, cutAt: 40_000), served(eTag: "\"2\"", cutAt: 30_000),
            served(eTag: "\"2\"", cutAt: 20_000),
            { _ in MockServer.Response(status: 403) }, served(eTag: "\"2\""),
        ]).server()
        let folder = try Folder()
        let error = await #expect(throws: HTTPError.self) { try await download(server.client(), to: folder) }
        #expect(error?.code == .invalidResponse && folder.isUntouched && folder.partCount == 50_000)
        try await download(server.client(), to: folder)
        #expect(folder.isComplete)
        #expect(server.ranges == [nil, "bytes=40000-", "bytes=30000-", "bytes=50000-", "bytes=50000-"])
        #expect(server.requests.map { $0.headers[.ifRange] } == [nil, "\"1\"", "\"2\"", "\"2\"", "\"2\""])
    }

    @Test func `a call starts again only once`() async throws {
        let server = try await Script([served(cutAt: 40_000, fault: .ignored)]).server()
        let folder = try Folder()
        let error = await #expect(throws: HTTPError.self) { try await download(server.client(), to: folder) }
        #expect(error?.code == .invalidResponse && error?.message.contains("does not support ranges") == true)
        #expect(server.ranges == [nil, "bytes=40000-", "bytes=40000-"] && folder.partCount == 40_000)
    }

    @Test(arguments: [true, false])
    func `a second 416 is the error, and the part stays`(isOneCall: Bool) async throws {
        let server = try await Script([
            served(cutAt: 40_000), { _ in MockServer.Response(status: .rangeNotSatisfiable) },
        ]).server()
        let folder = try Folder()
        if !isOneCall {
            await #expect(throws: HTTPError.self) { try await download(server.client(), to: folder, attempts: 0) }
        }
        let error = await #expect(throws: HTTPError.self) { try await download(server.client(), to: folder) }
        #expect(error?.code == .unacceptableStatus && error?.response?.status == .rangeNotSatisfiable)
        #expect(server.ranges == [nil, "bytes=40000-", nil] && folder.partCount == 40_000 && folder.isUntouched)
    }

    private struct RefuseErrors: HTTPValidator {
        func validate(response: HTTPResponse, forRequest request: HTTPRequest) async -> HTTPValidatorResult {
            response.status.code >= 400 ? .failChain(.unacceptableStatus, "refused") : .nextValidator
        }
    }

    @Test func `a call also starts again if a validator has refused the 416`() async throws {
        let server = try await Script([served(cutAt: 40_000), served(fault: .refused)]).server()
        let folder = try Folder()
        let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url), validators: [RefuseErrors()])
        try await download(client, to: folder)
        #expect(folder.isComplete && server.ranges == [nil, "bytes=40000-", nil])
    }
}

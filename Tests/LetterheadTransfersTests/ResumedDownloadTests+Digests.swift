// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import LetterheadTransfers
import TestKit
import Testing

/// A resumed download whose digest is known.
extension ResumedDownloadTests {
    @Test func `a file whose digest is right is saved`() async throws {
        let (hexadecimal, base64) = (Self.hexadecimal, Self.base64)
        for digest in [hexadecimal, hexadecimal.uppercased(), base64] {
            let server = try await Script([
                served(cutAt: 40_000, adding: ["Repr-Digest": "sha-256=:\(base64):"]),
                served(adding: ["Repr-Digest": "sha-512=:AA==:, sha-256=:\(base64):"]),
            ]).server()
            let folder = try await interrupted(server)
            try await download(server, to: folder, digest: .sha256(digest))
            #expect(folder.isComplete && server.requests.count == 2)
        }
    }

    @Test(
        arguments: [
            (ContentDigest.sha256(String(repeating: "0", count: 64)), HTTPHeaders()),
            (nil, ["Repr-Digest": "sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"]),
            (
                .sha256(Self.hexadecimal),
                ["Repr-Digest": "md5=:AA==:, sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"]
            ),
        ] as [(ContentDigest?, HTTPHeaders)])
    func `a file with another digest is removed`(_ digest: ContentDigest?, _ headers: HTTPHeaders) async throws {
        let server = try await Script([served(cutAt: 40_000), served(adding: headers)]).server()
        let folder = try await interrupted(server)
        let error = await #expect(throws: HTTPError.self) { try await download(server, to: folder, digest: digest) }
        #expect(error?.code == .digestMismatch && error?.message.contains(Self.hexadecimal) == true)
        #expect(folder.isUntouched && folder.names == ["video.mp4"])
        await server.stop()
    }

    @Test func `a digest of the server that covers a content coding is ignored`() async throws {
        // "Letterhead" in gzip, and the digest of these bytes.
        let compressed = try #require(Data(base64Encoded: "H4sIAAAAAAACA/NJLSlJLcpITUwBACckWRwKAAAA"))
        let server = try await Script([
            { _ in
                MockServer.Response(
                    headers: [
                        "ETag": "\"1\"", "Content-Encoding": "gzip",
                        "Repr-Digest": "sha-256=:wae7YTBAaN5XTmOJYAXC2Hxq1B0LzLl7hUlj+0T8y7Q=:",
                    ], body: compressed)
            }
        ]).server()
        let folder = try Folder()
        try await download(server, to: folder)
        #expect(folder.saved == Data("Letterhead".utf8) && folder.names == ["video.mp4"])
        await server.stop()
    }

    @Test(arguments: ["sha-256=AA", "sha-256=:AA:", "sha-256=::", "sha-256=:", "sha-512=:AA==:", ",", "sha-256=:!!!!:"])
    func `a digest of the server that is malformed or of another algorithm is ignored`(_ value: String) async throws {
        let server = try await Script([served(adding: ["Repr-Digest": value])]).server()
        let folder = try Folder()
        try await download(server, to: folder)
        #expect(folder.isComplete)
        await server.stop()
    }

    @Test(arguments: ["", "abc", String(repeating: "g", count: 64), "AAAA", String(repeating: "é", count: 32)])
    func `a malformed digest is refused before anything is sent`(_ text: String) async throws {
        let server = try await Script([served()]).server()
        let folder = try Folder()
        let error = await failure { try await download(server, to: folder, digest: .sha256(text)) }
        #expect(error?.code == .invalidRequest && server.requests.isEmpty)
    }

    static let hexadecimal = "457acfc64cae0a33bfe696c36395673bab10c056a8a153c3694fd832479ac4c4"
    static let base64 = "RXrPxkyuCjO/5pbDY5VnO6sQwFaooVPDaU/YMkeaxMQ="
}

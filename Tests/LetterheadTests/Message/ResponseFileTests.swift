// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

@Suite(.timeLimit(.minutes(3)))
struct ResponseFileTests {
    typealias Transport = TransportTests.Transport

    private let folder = FileManager.default.temporaryDirectory
        .appending(path: "response-file-\(UInt64.random(in: 0 ... .max))")

    private func request(_ url: URL, to name: String) throws -> HTTPRequest {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let request = HTTPRequest(url: url).with { $0.responseDelivery = .file(folder.appending(path: name)) }
        return request
    }

    private var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    @Test(arguments: Transport.allCases)
    func `a response is saved completely, and replaces an existing file each time`(_ transport: Transport)
        async throws
    {
        defer { try? FileManager.default.removeItem(at: folder) }
        let body = Data.patterned(5_000_000)
        let server = try await MockServer.start { _ in MockServer.Response(body: body) }
        for _ in 0..<2 {
            let client = HTTPClient(transport: transport.loader)
            let response = try await client.send(request(server.url, to: "saved"))
            #expect(response.status == 200 && response.body.buffered?.isEmpty == true)
            #expect(try Data(contentsOf: folder.appending(path: "saved")) == body)
        }
        #expect(try files == ["saved"])
        await server.stop()
    }

    @Test(arguments: Transport.allCases)
    func `the name of the file can be as long as the file system allows`(_ transport: Transport) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await MockServer.start { _ in .text("saved") }
        for name in [String(repeating: "x", count: 255), String(repeating: "\u{E9}", count: 127)] {
            _ = try await HTTPClient(transport: transport.loader).send(request(server.url, to: name))
            #expect(try Data(contentsOf: folder.appending(path: name)) == Data("saved".utf8))
        }
        #expect(try files.count == 2)
        await server.stop()
    }

    @Test(arguments: Transport.allCases)
    func `with an unaccepted status the file is not changed, and the body is in memory`(_ transport: Transport)
        async throws
    {
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await MockServer.start { _ in .text("not here", status: 404) }
        let response = try await transport.loader.load(request(server.url, to: "saved"))
        #expect(response.body.buffered == Data("not here".utf8))
        #expect(try files.isEmpty)
        await server.stop()
    }

    @Test(arguments: Transport.allCases)
    func `a file that cannot be written is an error that names the cause`(_ transport: Transport) async throws {
        let server = try await MockServer.start { _ in .text("some") }
        var request = HTTPRequest(url: server.url)
        request.responseDelivery = .file(URL(filePath: "/nowhere/at/all"))
        #expect(await failure { try await transport.loader.load(request) }?.code == .cannotSaveResponse)
        await server.stop()
    }
}

// SPDX-License-Identifier: MIT
#if os(Linux) || os(macOS)
    import Foundation
    import Letterhead
    import LetterheadRecording
    import LetterheadTesting
    import TestKit
    import Testing

    /// Validates the archives that the library writes with a schema and a parser of others.
    /// `Tests/Scripts/har-schema.sh` installs them.
    @Suite(.timeLimit(.minutes(3))) struct HARSchemaTests {
        private static let python = ProcessInfo.processInfo.environment["LETTERHEAD_HAR_PYTHON"]

        private func client(_ server: MockServer, _ recorder: FlightRecorder, _ cassette: Cassette) -> HTTPClient {
            HTTPClient(
                environment: ServerEnvironment(baseURL: server.url), attemptLinks: cassette.link, observers: [recorder],
                transport: HTTPClient.makeTransport(.init()))
        }

        @Test(.enabled("LETTERHEAD_HAR_PYTHON is not set") { python != nil })
        func `every archive keeps the rules of HAR 1.2, and damaged ones are refused`() async throws {
            let folder = try TemporaryDirectory()
            let server = try await MockServer.start { request in
                switch request.path {
                case "/old":
                    .init(status: .found, headers: [.location: "/new?token=s3cret&page=2", "Set-Cookie": "a=b"])
                case "/binary": .init(headers: [.contentType: "image/png"], body: Data([0, 159, 255]))
                case "/big": .text(String(repeating: "ü", count: 100_000))
                case "/nothing": .init(status: .noContent)
                default: .text(#"{"name":"ada","password":"s3cret"}"#)
                }
            }
            let recorder = FlightRecorder(last: 1_000, bytes: 64 << 20, keepsBinaryBodies: true)
            let cassette = try Cassette(folder.url.appending(path: "cassette.har"), mode: .record)
            let client = client(server, recorder, cassette)
            server.enqueue(.response(.init(status: .serviceUnavailable)))
            _ = try await client.send(TestEndpoint("old").header("Cookie", "a=s3cret").retry(.immediate))
            for path in ["binary", "big", "nothing", "users/ä b"] {
                _ = try await client.send(
                    TestEndpoint("\(path)").query("api_key", "s3cret").query("flag", nil).query("x", "ä &"))
            }
            for try await _ in try await client.stream(TestEndpoint("big")).body {}
            for body in Self.bodies(in: folder.url) {
                var request = try HTTPRequest(method: .post, server.url.absoluteString + "/bodies?q=1&q=2")
                request.body = body
                _ = try await client.send(request)
            }
            await server.stop()
            _ = try? await client.send(TestEndpoint("gone"))
            try cassette.save()
            try recorder.archive().write(to: folder.url.appending(path: "recorder.har"))
            try FlightRecorder().archive().write(to: folder.url.appending(path: "empty.har"))
            try await replayBrowser(in: folder.url)
            try await validate(folder.url)
        }

        private func validate(_ folder: URL) async throws {
            let script = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../Scripts/har-schema.py").standardizedFileURL
            let report = try await ChildProcess.output(of: #require(Self.python), [script.path, folder.path])
            print(String(decoding: report, as: UTF8.self))
        }

        /// An archive of a browser with all optional members is replayed, and is still an archive with new episodes.
        private func replayBrowser(in folder: URL) async throws {
            let file = folder.appending(path: "browser.har")
            let archive = #"""
                {"log":{"version":"1.2","creator":{"name":"b","version":"1"},"pages":[],"entries":[{"pageref":"p",
                "startedDateTime":"2026-01-01T00:00:00.000Z","time":1,"cache":{"beforeRequest":{"lastAccess":"","eTag":"",
                "hitCount":1},"afterRequest":null},"timings":{"send":0,"wait":1,"receive":0},"request":{"method":"GET",
                "url":"https://a.test/","httpVersion":"h2","cookies":[{"name":"a","value":"b","httpOnly":true}],
                "headers":[{"name":":method","value":"GET"}],"queryString":[],"headersSize":-1,"bodySize":0},
                "response":{"status":200,"statusText":"","httpVersion":"h2","cookies":[{"name":"a","value":"b"}],
                "headers":[],"content":{"size":2,"mimeType":"text/plain","text":"hi"},"redirectURL":"","headersSize":-1,
                "bodySize":-1}}]}}
                """#
            try Data(archive.utf8).write(to: file)
            let cassette = try Cassette(file, mode: .newEpisodes)
            let stubs = StubLoader().on(.any()) { _ in .status(.created) }
            let client = HTTPClient(attemptLinks: cassette.link, transport: stubs)
            #expect(try await client.send(HTTPRequest("https://a.test/")).status == .ok)
            #expect(try await client.send(HTTPRequest("https://a.test/new")).status == .created)
            try cassette.save()
        }

        private static func bodies(in folder: URL) -> [any HTTPBody] {
            let file = folder.appending(path: "file.txt")
            try? Data("file".utf8).write(to: file)
            return [
                JSONBody(["password": "s3cret", "name": "grace"]), JSONBody(["n": 1]).compressed(), FileBody(at: file),
                DataBody(Data([0, 159, 255]), contentType: "application/octet-stream"),
                MultipartBody([.text("hi", name: "note"), .data(Data([0, 255]), name: "f", filename: "b.bin")]),
                StreamBody(contentType: "text/plain") { AsyncStream { $0.finish() } },
            ]
        }
    }
#endif

// SPDX-License-Identifier: MIT
#if os(Linux) || os(macOS)
    import Foundation
    import Letterhead
    import LetterheadObserving
    import LetterheadTesting
    import TestKit
    import Testing

    @Suite(.timeLimit(.minutes(3))) struct RequestCurlCommandTests {
        @Test func `a command has the method, the headers and the URL, without secrets`() throws {
            var request = try HTTPRequest(method: .delete, "https://a.test/users/ada?token=s3cret&x=1")
            request.headers = ["Accept": "application/json", "Authorization": "Bearer s3cret", "User-Agent": "me"]
            #expect(
                request.curlCommand()
                    == "curl --request DELETE --header 'Accept: application/json' "
                    + "--header 'Authorization: <redacted>' --header 'User-Agent: me' "
                    + "'https://a.test/users/ada?token=<redacted>&x=1'")
            #expect(request.curlCommand(includingSecrets: true).contains("Bearer s3cret"))
        }

        @Test func `secrets in bodies are redacted`() throws {
            var request = try HTTPRequest(method: .post, "https://a.test/")
            request.body = JSONBody(["password": "s3cret", "name": "ada"])
            #expect(!request.curlCommand().contains("s3cret") && request.curlCommand().contains("ada"))
            request.body = MultipartBody([.text("s3cret", name: "password"), .text("ada", name: "name")])
            #expect(!request.curlCommand().contains("s3cret") && request.curlCommand().contains("name=ada"))
            // No random boundary contains this name.
            request.body = MultipartBody([.body(DataBody(Data("zoe".utf8)), name: "name")])
            #expect(request.curlCommand().contains("--form-string name=zoe"))
            request.isSecret = true
            #expect(!request.curlCommand().contains("zoe"))
        }

        @Test func `a body in which secrets cannot be found is redacted as a whole`() throws {
            var request = try HTTPRequest(method: .post, "https://a.test/")
            let password = MultipartBody.Part.text("s3cret", name: "password")
            let bodies: [any HTTPBody] = [
                MultipartBody([password, .data(Data([0, 255]), name: "f", filename: "b")]),
                MultipartBody([password, .text("x", name: "a=b")]),
                JSONBody(["password": "s3cret"]).compressed(),
                DataBody(Data(#"{"password":"s3cret\#u{1}"}"#.utf8), contentType: .json),
            ]
            for body in bodies {
                request.body = body
                let command = request.curlCommand()
                #expect(command.contains("--data-raw '<redacted>'") && !command.contains("s3cret"), "\(command)")
                #expect(request.curlCommand(includingSecrets: true) != command)
            }
            request.body = MultipartBody([
                .data(Data(#"{"password":"s3cret","n":1}"#.utf8), name: "meta", contentType: .json)
            ])
            #expect(!request.curlCommand().contains("s3cret") && request.curlCommand().contains("meta="))
        }

        @Test func `a file is named, and a body that is produced while it is sent is read from standard input`() throws
        {
            var request = try HTTPRequest(method: .put, "https://a.test/")
            request.body = FileBody(at: URL(filePath: "/tmp/it's here.txt"))
            #expect(request.curlCommand().contains(#"--data-binary '@/tmp/it'\''s here.txt'"#))
            request.body = MultipartBody([.file(at: URL(filePath: "/tmp/a.txt"), name: "file")])
            #expect(
                request.curlCommand().contains(#"--form 'file=@"/tmp/a.txt";filename="a.txt";type=text/plain"#))
            request.body = StreamBody { AsyncStream<Data> { $0.finish() } }
            #expect(request.curlCommand().contains("--data-binary @-"))
        }

        @Test func `printf prints any bytes`() async throws {
            var generator = SeededGenerator(seed: 26)
            for count in [1, 256, 4_000] {
                let bytes =
                    count == 256
                    ? Array(0...255) : (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
                var request = try HTTPRequest(method: .post, "https://a.test/")
                request.body = DataBody(Data([0xFF] + bytes))
                let command = request.curlCommand()
                let print = try #require(command.components(separatedBy: " | curl").first)
                #expect(Array(try await run(print)) == [0xFF] + bytes)
            }
        }

        private func run(_ script: String) async throws -> Data {
            let file = FileManager.default.temporaryDirectory.appending(path: "letterhead-\(UUID().uuidString).sh")
            try Data(script.utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            return try await ChildProcess.output(of: "sh", [file.path])
        }

        @Test(.enabled(if: CurlCommand.isInstalled))
        func `curl sends the same requests as the library`() async throws {
            let server = try await MockServer.start { _ in .text("ok") }
            let file = FileManager.default.temporaryDirectory.appending(path: "letter head's \(UUID().uuidString).txt")
            try Data("of a file\n".utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let requests = try Self.requests(server.url, file)
            #expect(requests.count >= 50)
            for request in requests {
                _ = try? await HTTPClient.defaultTransport.load(request)
                _ = try await run(request.curlCommand(includingSecrets: true))
                let sent = server.requests.suffix(2)
                guard sent.count == 2, let ours = sent.first, let curls = sent.last else { continue }
                #expect(ours.method == curls.method && ours.target == curls.target, "\(request.curlCommand())")
                #expect(Self.fields(ours) == Self.fields(curls), "\(request.curlCommand())")
                #expect(Self.content(ours) == Self.content(curls), "\(request.curlCommand())")
            }
            #expect(server.requests.count == 2 * requests.count)
            await server.stop()
        }

        /// The headers by name. The transport adds Accept-Encoding, and curl chooses its own boundary.
        private static func fields(_ request: MockServer.Request) -> [String] {
            request.headers.filter { $0.name != .acceptEncoding && $0.name != .contentLength }.map { field in
                let value = field.value.hasPrefix("multipart/") ? "multipart/form-data" : field.value
                return "\(field.name.rawValue.lowercased()): \(value)"
            }.sorted()
        }

        private static func content(_ request: MockServer.Request) -> Data {
            guard let type = request.headers[.contentType], type.hasPrefix("multipart/"),
                let boundary = type.range(of: "boundary=").map({ String(type[$0.upperBound...]) })
            else { return request.body }
            let text = String(decoding: request.body, as: UTF8.self)
            return Data(text.replacingOccurrences(of: boundary.trimmingCharacters(in: ["\""]), with: "BOUNDARY").utf8)
        }

        private static func requests(_ url: URL, _ file: URL) throws -> [HTTPRequest] {
            func make(_ method: HTTPMethod, _ path: String, _ change: (inout HTTPRequest) -> Void = { _ in }) throws
                -> HTTPRequest
            {
                var request = try HTTPRequest(method: method, url.absoluteString + path)
                change(&request)
                return request
            }
            var requests: [HTTPRequest] = []
            for method in [HTTPMethod.get, .head, .delete, .options, "PURGE"] {
                for path in [
                    "/", "/a%20b", "/a/./b/../c", "/x?q=%5B1%5D&r={a}".replacingOccurrences(of: "{a}", with: "%7Ba%7D"),
                ] {
                    requests.append(
                        try make(method, path) { $0.headers = ["X-It's": "a 'b' \"c\" $HOME `d`", "X-Empty": ""] })
                }
            }
            let bodies: [any HTTPBody] = [
                EmptyBody(), TextBody("it's $HOME\n\"quoted\" \\ \u{E9}"), TextBody("@/etc/passwd"), TextBody("a=b&c"),
                JSONBody(["password": "s3cret, it's"]), DataBody(Data(0...255)),
                DataBody(Data([0, 10, 13])),
                FormBody(["name": "a b", "q": "x&y"]), FileBody(at: file),
                FileBody(at: file, range: 1..<3), TextBody(String(repeating: "long ", count: 40_000)),
            ]
            for method in [HTTPMethod.post, .put, .patch] {
                for body in bodies { requests.append(try make(method, "/body") { $0.body = body }) }
            }
            let forms: [[MultipartBody.Part]] = [
                [.text("ada's", name: "name"), .text("a;type=b", name: "semi")], [.file(at: file, name: "file")],
                [.text("<in", name: "less"), .text("@at", name: "at"), .text("\"q\" \\", name: "quoted")],
                [.data(Data([0, 255]), name: "binary", filename: "b.bin")],
                [.data(Data("text".utf8), name: "t", filename: "t.txt", contentType: .plainText)],
                [
                    .text("x", name: "c", contentType: "text/plain; charset=\"utf-8\""),
                    .text("'\u{301}", name: "'\u{301}"),
                ],
                [.text("x", name: "c", headers: ["Content-Type": "text/plain;headers=@\(file.path)"])],
                [.body(FileBody(at: file), name: "unnamed")],
                [.body(FileBody(at: file, range: 1..<3), name: "range", filename: "r.txt")],
            ]
            for parts in forms { requests.append(try make(.post, "/form") { $0.body = MultipartBody(parts) }) }
            return requests
        }
    }
#endif

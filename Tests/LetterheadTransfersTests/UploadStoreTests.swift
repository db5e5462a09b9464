// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Letterhead
    import LetterheadTesting
    import LetterheadTransfers
    import Synchronization
    import TestKit
    import Testing

    @Suite(.timeLimit(.minutes(3))) struct UploadStoreTests {
        typealias Kind = UploadServer.Kind

        @Test func `a key belongs to one origin`() async throws {
            let (first, second, box) = (UploadServer(.tus), UploadServer(.tus), try Outbox())
            first.enqueue("PATCH", .cut(after: 20_000))
            _ = try? await box.upload(to: first, attempts: 0) { $0.key = "k" }
            let response = try await box.upload(to: second) { $0.key = "k" }
            #expect(second.isRight() && response.upload?.continuedFrom == 0 && first.appends.count == 1)
            #expect(try box.store.uploads().map(\.key) == ["k"])
        }

        @Test(arguments: Kind.allCases, [true, false])
        func `with an environment of a closure, a later call continues with the credentials of the template`(
            kind: Kind, isSameOrigin: Bool
        ) async throws {
            let (server, other, box) = (UploadServer(kind), UploadServer(kind), try Outbox())
            let base = Mutex(server.url)
            let client = HTTPClient(environment: .provided { _ in ServerEnvironment(baseURL: base.withLock { $0 }) })
            let bearer = HTTPAuthentication.bearer("t", allowedOrigins: [server.url, other.url])
            let template = Post<HTTPResponse>("files", headers: ["X-Api-Key": "1"]).authenticated(by: bearer)
            server.enqueue("PATCH", .cut(after: 40_000))
            _ = try? await box.upload(to: server, template, attempts: 0, client: client) { $0.key = "k" }
            if !isSameOrigin { base.withLock { $0 = other.url } }
            let response = try await box.upload(to: server, template, client: client) { $0.key = "k" }
            #expect(server.isRight() && response.upload?.continuedFrom == 40_000)
            let last = server.seen.suffix(2)
            #expect(last.map(\.method) == ["HEAD", "PATCH"] && server.appends[0].headers["x-api-key"] == "1")
            #expect(last.allSatisfy { $0.lacks("authorization") != isSameOrigin })
            #expect(last.allSatisfy { $0.lacks("x-api-key") != isSameOrigin })
            #expect(other.methods == (isSameOrigin ? [] : ["OPTIONS"]))
        }

        @Test func `headers of the template identify an upload, except for secret ones`() async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            func template(_ title: String, _ token: String) -> some RequestTemplate {
                Post<HTTPResponse>("files", headers: ["X-Title": title])
                    .header("Authorization", token)
            }
            server.enqueue("PATCH", .cut(after: 20_000))
            _ = try? await box.upload(to: server, template("A", "1"), attempts: 0)
            #expect(try await box.upload(to: server, template("B", "1")).upload?.continuedFrom == 0)
            #expect(try await box.upload(to: server, template("A", "2")).upload?.continuedFrom == 20_000)
            #expect(server.seen.filter { $0.method == "POST" }.map { $0.headers["x-title"] } == ["A", "B"])
        }

        @Test func `an upload in another protocol isn't continued`() async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            try await box.begin(at: server)
            let error = await #expect(throws: HTTPError.self) {
                try await box.upload(to: server, attempts: 0) { $0.kind = .draft }
            }
            #expect(error?.response?.status.code == 412 && server.methods.suffix(1) == ["POST"])
        }

        @Test func `an unfinished upload is listed for its user only`() async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            server.enqueue("PATCH", .cut(after: 40_000))
            let (ada, grace) = (UploadStore(in: box.folder, user: "ada"), UploadStore(in: box.folder, user: "grace"))
            #expect(try ada.uploads().isEmpty)
            _ = try? await box.upload(to: server, attempts: 0, store: ada)
            let upload = try #require(try ada.uploads().first)
            #expect(upload.fileName == "film é.mp4" && upload.byteCount == 100_000)
            #expect(upload.url.absoluteString.hasPrefix("\(server.url.absoluteString)/uploads/"))
            #expect(upload.expires.timeIntervalSince(upload.created) == 604_800)
            #expect(try grace.uploads().isEmpty)
            let response = try await box.upload(to: server, store: grace)
            #expect(response.upload?.continuedFrom == 0 && server.uploads.count == 2)
        }

        @Test func `the files contain no secrets, and only the user can read them`() async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            server.enqueue("PATCH", .cut(after: 40_000))
            let template = Post<HTTPResponse>(
                "files", query: ["token": "secret-1"], headers: ["Authorization": "secret-2"])
            _ = try? await box.upload(
                to: server, template, attempts: 0, store: UploadStore(in: box.folder, user: "secret-3"))
            #expect(box.names.count == 2)
            for name in box.names {
                let file = box.folder.appending(path: name)
                #expect(!(name + String(decoding: try Data(contentsOf: file), as: UTF8.self)).contains("secret"))
                let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
                // The other one is the lock, which is empty.
                #expect(mode == 0o600 || !name.hasSuffix(".json"))
            }
        }

        @Test(arguments: ["[]", "{\"url\":1}", ""])
        func `a damaged entry is a new upload`(text: String) async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            try await box.begin(at: server)
            let file = try #require(box.names.first { $0.hasSuffix(".json") })
            try Data(text.utf8).write(to: box.folder.appending(path: file))
            #expect(try box.store.uploads().isEmpty)
            try await box.upload(to: server)
            #expect(server.complete == [content] && box.names.isEmpty)
        }

        @Test(arguments: Kind.allCases)
        func `an upload expires when the server says so, and the server may postpone it`(kind: Kind) async throws {
            let fields = ["Upload-Expires": "Thu, 01 Jan 2099 00:10:00 GMT", "Upload-Limit": "max-age=600"]
            let (server, box) = (UploadServer(kind), try Outbox())
            let start = Date(timeIntervalSince1970: 4_070_908_800)
            let now = Mutex(start)
            let store = UploadStore(in: box.folder) { now.withLock { $0 } }
            server.enqueue("POST", .fields(fields))
            server.enqueue("PATCH", .cut(after: 40_000))
            _ = try? await box.upload(to: server, attempts: 0, store: store)
            #expect(try store.uploads().first?.expires == start.addingTimeInterval(600))
            now.withLock { $0 += 599 }
            server.enqueue(
                "HEAD", .fields(["Upload-Expires": "Thu, 01 Jan 2099 01:00:00 GMT", "Upload-Limit": "max-age=3001"]))
            server.enqueue("PATCH", .cut(after: 1))
            _ = try? await box.upload(to: server, attempts: 0, store: store)
            #expect(try store.uploads().first?.expires == start.addingTimeInterval(3600))
            now.withLock { $0 += 3002 }
            let response = try await box.upload(to: server, store: store)
            #expect(response.upload?.restart == .expired && server.complete == [content])
        }

        @Test(arguments: [-86_400.0, 86_400])
        func `a server's date is compared with the server's clock`(error: Double) async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            let now = Date(timeIntervalSince1970: 4_070_908_800 + error)
            let store = UploadStore(in: box.folder) { now }
            server.enqueue(
                "POST",
                .fields(["Date": "Thu, 01 Jan 2099 00:00:00 GMT", "Upload-Expires": "Thu, 01 Jan 2099 00:10:00 GMT"]))
            server.enqueue("PATCH", .cut(after: 40_000))
            _ = try? await box.upload(to: server, attempts: 0, store: store)
            #expect(try store.uploads().first?.expires == now.addingTimeInterval(600))
            let response = try await box.upload(to: server, store: store)
            #expect(server.isRight() && response.upload?.restart == nil)
        }

        @Test func `a foreign file hides no uploads`() async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            try await box.begin(at: server)
            let name = try #require(box.names.first { $0.hasSuffix(".json") })
            let other = box.folder.appending(path: "\(name.prefix(33))other.json")
            try FileManager.default.createDirectory(at: other, withIntermediateDirectories: false)
            #expect(try box.store.uploads().map(\.id) == [name])
        }

        @Test func `an expired entry is removed`() async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            try await box.begin(at: server)
            #expect(box.names.count == 2)
            #expect(try UploadStore(in: box.folder, maximumAge: .zero).uploads().count == 1)
            #expect(try UploadStore(in: box.folder) { Date() + 604_801 }.uploads().isEmpty)
            #expect(box.names.isEmpty)
        }

        @Test func `two calls at once are refused, and the first one is right`() async throws {
            let (server, box) = (UploadServer(.draft), try Outbox())
            server.enqueue("PATCH", .stall(after: 40_000))
            let first = Task { try await box.upload(to: server) }
            while server.appends.isEmpty { await Task.yield() }
            let error = await #expect(throws: HTTPError.self) { try await box.upload(to: server) }
            #expect(error?.code == .uploadInUse && error?.mayHaveBeenSent == false)
            #expect(try box.store.uploads().count == 1)
            first.cancel()
            _ = try? await first.value
            try await box.upload(to: server)
            #expect(server.isRight())
        }

        @Test func `different files, URLs and keys are different uploads`() async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            try await box.begin(at: server)
            for path in ["files?a=1", "files?a=2"] {
                server.enqueue("PATCH", .cut(after: 1))
                _ = try? await box.upload(
                    to: server, Post<HTTPResponse>(RequestPath(escaped: path, route: nil)), attempts: 0)
            }
            server.enqueue("PATCH", .cut(after: 1))
            _ = try? await box.upload(to: server, attempts: 0) { $0.key = "k" }
            #expect(try box.store.uploads().count == 4 && server.uploads.count == 4)
        }

        @Test(arguments: Kind.allCases)
        func `a cancelled upload is deleted at the server and in the store`(kind: Kind) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            try await box.begin(at: server)
            let upload = try #require(try box.store.uploads().first)
            try await server.client.cancel(upload, in: box.store)
            #expect(server.uploads.isEmpty && server.seen.last?.method == "DELETE" && box.names.isEmpty)
            #expect(server.faults.isEmpty && server.seen.last?.headers["content-type"] == nil)
        }

        @Test(arguments: ["../../victim.json", "%@/../../victim.json", "victim.json", "", "%@\u{0}.json"])
        func `an entry can name no other file`(name: String) async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            try await box.begin(at: server)
            let victim = box.root.appending(path: "victim.json")
            let upload = try #require(try box.store.uploads().first)
            try FileManager.default.copyItem(at: box.folder.appending(path: upload.id), to: victim)
            let before = try FileManager.default.subpathsOfDirectory(atPath: box.root.path).sorted()
            let id = name.replacing("%@", with: upload.id.prefix(33))
            let text = String(decoding: try JSONEncoder().encode(upload), as: UTF8.self)
            let changed = text.replacing(
                upload.id, with: String(decoding: try JSONEncoder().encode(id), as: UTF8.self).dropFirst().dropLast())
            let forged = try JSONDecoder().decode(UnfinishedUpload.self, from: Data(changed.utf8))
            let error = await #expect(throws: HTTPError.self) { try await server.client.cancel(forged, in: box.store) }
            #expect(error?.code == .uploadStoreFailed && forged.id == id)
            #expect(try FileManager.default.subpathsOfDirectory(atPath: box.root.path).sorted() == before)
            // The name of the file counts, not the one in it.
            try Data(changed.utf8).write(to: box.folder.appending(path: upload.id))
            #expect(try box.store.uploads() == [upload])
        }

        @Test func `a newer upload of the file stays if an older one is cancelled`() async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            try await box.begin(at: server)
            let older = try #require(try box.store.uploads().first)
            server.forget()
            try await box.begin(at: server)
            let newer = try #require(try box.store.uploads().first)
            try await server.client.cancel(older, in: box.store)
            #expect(older.id == newer.id && older.url != newer.url)
            #expect(try box.store.uploads() == [newer])
        }

        @Test(arguments: [
            ("https://up.test", "https://api.test/users/me", false), ("https://up.test", "/uploads/1", false),
            ("https://api.test", "https://up.test/uploads/1", false), ("https://api.test", "/uploads/1", true),
        ])
        func `cancellation sends credentials only to the origin where the upload was created`(
            origin: String, location: String, isSigned: Bool
        ) async throws {
            let (mock, box) = (
                MockLoader { request in
                    let status: HTTPStatus = request.method == .post ? .created : .forbidden
                    return HTTPResponse(
                        request: request, status: status, headers: ["Tus-Resumable": "1.0.0", "Location": location])
                }, try Outbox()
            )
            let client = HTTPClient(
                environment: ServerEnvironment("https://api.test", headers: ["X-Env": "4"], query: ["v": 2]),
                authentication: .bearer("t"), transport: mock
            ).header("X-Api-Key", "k").query("q", "5")
            var settings = UploadSettings()
            settings.kind = .tus
            _ = try? await client.upload(
                Post<HTTPResponse>("files").environment(ServerEnvironment(origin)), from: DataBody(content),
                resuming: box.store, settings, continuing: .immediately(0))
            // An upload that a program has decoded can name any origin.
            let encoder = JSONEncoder()
            encoder.outputFormatting = .withoutEscapingSlashes
            let text = String(decoding: try encoder.encode(try box.store.uploads()), as: UTF8.self)
            let forged = text.replacing("\"origin\":\"\(origin)\"", with: "\"origin\":\"https://api.test\"")
            let uploads = try JSONDecoder().decode([UnfinishedUpload].self, from: Data(forged.utf8))
            try await client.cancel(try #require(uploads.first), in: box.store)
            let last = mock.requests.suffix(2)
            #expect(last.map(\.method) == [.delete, .head] && box.names.isEmpty)
            #expect(last.allSatisfy { $0.headers[.authorization] == (isSigned ? "Bearer t" : nil) })
            #expect(last.allSatisfy { $0.headers["X-Env"] == (isSigned ? "4" : nil) })
            #expect(last.allSatisfy { ($0.headers["X-Api-Key"] == "k") == location.hasPrefix("/") && $0.query.isEmpty })
        }

        @Test(arguments: [
            ("404 X", nil, true), ("405 X", nil, true), ("410 X", nil, true), ("501 X", nil, true),
            ("403 X", "403 X", true), ("403 X", "404 X", true), ("400 X", "400 X", true),
            ("403 X", nil, false), ("403 X", "503 X", false), ("400 X", nil, false), ("500 X", nil, false),
        ])
        func `an upload that cannot be deleted stays unless the server has none`(
            status: String, head: String?, isGone: Bool
        ) async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            try await box.begin(at: server)
            let upload = try #require(try box.store.uploads().first)
            server.enqueue("DELETE", .response("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n"))
            if let head { server.enqueue("HEAD", .response("HTTP/1.1 \(head)\r\nContent-Length: 0\r\n\r\n")) }
            if isGone {
                try await server.client.cancel(upload, in: box.store)
            } else {
                await #expect(throws: HTTPError.self) { try await server.client.cancel(upload, in: box.store) }
            }
            #expect(box.names.isEmpty == isGone)
        }

        @Test func `an entry can be removed without its server`() async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            try await box.begin(at: server)
            let upload = try #require(try box.store.uploads().first)
            try UploadStore(in: box.folder, user: "ada").uploads().forEach(box.store.remove)
            #expect(box.names.count == 2)
            try box.store.remove(upload)
            #expect(box.names.isEmpty && !server.methods.contains("DELETE"))
            try await box.begin(at: server)
            #expect(throws: Never.self) { try box.store.remove(upload) }
            #expect(try box.store.uploads().count == 1)
        }

        @Test func `a store that cannot be written is an error before anything is sent`() async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            let store = UploadStore(in: box.file.appending(path: "no folder"))
            let error = await #expect(throws: HTTPError.self) { try await box.upload(to: server, store: store) }
            #expect(error?.code == .uploadStoreFailed && server.seen.isEmpty)
        }

        /// Puts a directory in the place of an entry, or of its lock, after the response to a method.
        private struct Obstruct: LoaderLink {
            let box: Outbox
            let method: HTTPMethod
            let isLock: Bool

            func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
                let response = try await next.load(request)
                if request.method == method, let lock = box.names.first(where: { $0.hasSuffix(".lock") }) {
                    let place = box.folder.appending(path: String(lock.dropLast(isLock ? 0 : 5)))
                    try? FileManager.default.removeItem(at: place)
                    try? FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
                }
                return response
            }
        }

        @Test func `a draft that cannot replace its entry is removed`() async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            let client = server.client.addingLink(Obstruct(box: box, method: .post, isLock: false))
            let error = await #expect(throws: HTTPError.self) { try await box.upload(to: server, client: client) }
            #expect(error?.code == .uploadStoreFailed && box.names.count == 1 && box.names[0].hasSuffix(".json"))
        }

        @Test func `the entry of a complete upload is removed without opening its lock again`() async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            let client = server.client.addingLink(Obstruct(box: box, method: .patch, isLock: true))
            try await box.upload(to: server, client: client)
            #expect(server.isRight() && box.names.count == 1 && box.names[0].hasSuffix(".lock"))
        }

        @Test func `a process that is killed at any moment leaves a file that is right or absent`() async throws {
            let server = UploadServer(.tus) { $0.pause = 300 }
            let bytes = Data((0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })
            let box = try Outbox(bytes)
            let program = try ChildProcess.path(ofPackage: "transport-stress")
            let kills = ProcessInfo.processInfo.environment["LETTERHEAD_KILLS"].flatMap { Int($0) } ?? 12
            var completed = 0
            for round in 0..<kills {
                let child = try ChildProcess(
                    program, ["upload", "\(server.url.port ?? 0)", box.file.path, box.folder.path])
                let requests = server.seen.count
                // Half of them are killed at a random moment, the others in the middle of a request.
                if round.isMultiple(of: 2) {
                    while server.seen.count == requests, child.status == nil { await Task.yield() }
                }
                try await Task.sleep(for: .microseconds(Int.random(in: 0...60_000)))
                child.kill()
                if await child.end(within: 60) == 0 { completed += 1 }
            }
            let (status, output) = try await ChildProcess.run(
                program, ["upload", "\(server.url.port ?? 0)", box.file.path, box.folder.path])
            #expect(status == 0, "\(String(decoding: output, as: UTF8.self))")
            #expect(server.complete.count >= 1 && server.complete.allSatisfy { $0 == bytes } && server.faults.isEmpty)
            // A kill between the creation and the entry leaves an empty upload.
            #expect(server.uploads.allSatisfy { $0.isComplete || $0.bytes == bytes.prefix($0.count) })
            #expect(box.names.isEmpty, "\(box.names), \(completed) were complete")
        }

        @Test func `several processes share a store, and each file is sent once`() async throws {
            let (server, box) = (UploadServer(.draft) { $0.pause = 1_000 }, try Outbox(content + content))
            let program = try ChildProcess.path(ofPackage: "transport-stress")
            let children = try (0..<4).map { _ in
                try ChildProcess(program, ["upload", "\(server.url.port ?? 0)", box.file.path, box.folder.path])
            }
            var statuses: [Int32] = []
            for child in children { statuses.append(await child.end(within: 60)) }
            // Those that come later find it in use, or send it again after it is complete.
            #expect(
                statuses.contains(0) && server.faults.isEmpty && server.complete.allSatisfy { $0 == content + content })
            #expect(server.complete.count == statuses.filter { $0 == 0 }.count && box.names.isEmpty)
        }

        @Test func `an upload needs little memory, however large it is`() async throws {
            let (status, output) = try await ChildProcess.run(
                ofPackage: "transport-stress", ["upload-memory", "64"], seconds: 120)
            #expect(status == 0 && output.contains("ok: "), "\(output)")
        }
    }
#endif

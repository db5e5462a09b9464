// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Letterhead
    import LetterheadTransfers
    import TestKit
    import Testing

    /// What a server, a file or a caller does wrong.
    @Suite(.timeLimit(.minutes(3))) struct RefusedUploadTests {
        typealias Kind = UploadServer.Kind

        private func response(_ status: String, _ fields: String = "") -> UploadServer.Effect {
            .response("HTTP/1.1 \(status)\r\n\(fields)Content-Length: 0\r\n\r\n")
        }

        @Test(arguments: Kind.allCases)
        func `a wrong offset in a chunk is asked for`(kind: Kind) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            server.enqueue("PATCH", response("409 Conflict"))
            try await box.upload(to: server)
            #expect(server.isRight() && server.offsets == [0, 0])
        }

        @Test(arguments: Kind.allCases, [true, false])
        func `an upload that the server has forgotten starts again`(kind: Kind, isOneCall: Bool) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            if isOneCall {
                server.enqueue("PATCH", .cut(after: 40_000))
                server.enqueue("HEAD", .forget)
            } else {
                try await box.begin(at: server)
                server.forget()
            }
            let response = try await box.upload(to: server)
            #expect(server.complete == [content] && server.faults.isEmpty && server.offsets == [0, 0])
            #expect(response.upload?.restart == .forgotten && box.names.isEmpty)
        }

        @Test(arguments: Kind.allCases, ["404 Gone", "410 Gone"])
        func `it starts again only once`(kind: Kind, status: String) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            server.enqueue("PATCH", response(status), response(status))
            let error = await #expect(throws: HTTPError.self) { try await box.upload(to: server) }
            #expect(error?.code == .unacceptableStatus && server.offsets == [0, 0])
        }

        @Test(arguments: Kind.allCases)
        func `a forbidden upload is forgotten in tus only`(kind: Kind) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            try await box.begin(at: server)
            server.enqueue("HEAD", response("403 Forbidden"))
            let result = await Result { try await box.upload(to: server) }
            #expect((try? result.get().upload?.restart) == (kind == .tus ? .forgotten : nil))
            #expect(box.names.count == (kind == .tus ? 0 : 2))
        }

        @Test(
            arguments: Kind.allCases,
            [
                ("HEAD", "Upload-Offset", "99999", "has 99999 bytes, although it had 20000 before"),
                ("HEAD", "Upload-Offset", "3", "has 3 bytes, although it had 20000 before"),
                ("HEAD", "Upload-Offset", "-1", "no valid Upload-Offset"),
                ("HEAD", "Upload-Offset", "1x", "no valid Upload-Offset"),
                ("HEAD", "Upload-Length", "7", "the server expects 7 bytes instead of 100000"),
                ("PATCH", "Upload-Offset", "40001", "has 40001 bytes, although it had 20000 before"),
                ("PATCH", "Upload-Offset", "19999", "has 19999 bytes, although it had 20000 before"),
            ])
        func `an offset that contradicts what was sent is an error`(
            kind: Kind, fault: (method: String, name: String, value: String, message: String)
        ) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            let effect = UploadServer.Effect.fields([fault.name: fault.value])
            server.enqueue("PATCH", .partial(20_000))
            if fault.method == "HEAD" { server.enqueue("PATCH", .lost) }
            server.enqueue(fault.method, effect)
            let error = await #expect(throws: HTTPError.self) {
                try await box.upload(to: server) { $0.chunkSize = 20_000 }
            }
            #expect(error?.code == .uploadMismatch && error?.message.contains(fault.message) == true, "\(error as Any)")
            // Nobody knows what the server has, so the next call starts again.
            #expect(box.names.isEmpty && server.complete.isEmpty)
        }

        @Test(arguments: Kind.allCases)
        func `a server that accepts nothing is asked a limited number of times`(kind: Kind) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            server.enqueue("PATCH", .partial(0), .partial(0), .partial(0), .partial(0))
            let error = await #expect(throws: HTTPError.self) { try await box.upload(to: server, attempts: 3) }
            #expect(error?.code == .invalidResponse && server.offsets == [0, 0, 0, 0])
            try await box.upload(to: server)
            #expect(server.isRight())
        }

        @Test(arguments: Kind.allCases)
        func `a server that responds with 5xx is asked a limited number of times`(kind: Kind) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            server.enqueue("PATCH", response("503 Busy"), response("503 Busy"), response("503 Busy"))
            let error = await #expect(throws: HTTPError.self) { try await box.upload(to: server, attempts: 2) }
            #expect(error?.code == .unacceptableStatus && error?.response?.status == .serviceUnavailable)
            #expect(server.offsets == [0, 0, 0] && box.names.count == 2)
            // The second attempt asks before it sends.
            #expect(server.appends.map { $0.headers["expect"] } == [nil, "100-continue", "100-continue"])
        }

        @Test(arguments: Kind.allCases, ["400 Bad", "403 Forbidden", "415 Type"])
        func `a refused chunk is the error of the call`(kind: Kind, status: String) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            server.enqueue("PATCH", response(status))
            let error = await #expect(throws: HTTPError.self) { try await box.upload(to: server) }
            #expect(error?.code == .unacceptableStatus && server.methods == ["OPTIONS", "POST", "PATCH"])
            #expect(error?.response.map { "\($0.status.code)" } == String(status.prefix(3)))
        }

        @Test func `a failure of the draft's resource is the error of the call, and ends the upload`() async throws {
            let (server, box) = (UploadServer(.draft), try Outbox())
            server.enqueue("PATCH", response("422 No film", "Upload-Complete: ?1\r\n"))
            let error = await #expect(throws: HTTPError.self) { try await box.upload(to: server) }
            #expect(error?.code == .unacceptableStatus && error?.response?.status == 422 && box.names.isEmpty)
        }

        @Test(arguments: ["PATCH", "HEAD"])
        func `an upload that the draft's server ends early is no success`(method: String) async throws {
            let (server, box) = (UploadServer(.draft), try Outbox())
            if method == "HEAD" { server.enqueue("PATCH", .cut(after: 10)) }
            server.enqueue(method, .fields(["Upload-Complete": "?1"]))
            let error = await #expect(throws: HTTPError.self) {
                try await box.upload(to: server) { $0.chunkSize = 20_000 }
            }
            #expect(error?.code == .uploadMismatch && error?.message.contains("ended the upload before") == true)
        }

        @Test(arguments: Kind.allCases)
        func `a creation without a usable Location is an error`(kind: Kind) async throws {
            for fields in ["", "Location: ftp://a.example/1\r\n"] {
                let (server, box) = (UploadServer(kind), try Outbox())
                server.enqueue("POST", response("201 Created", fields))
                let error = await #expect(throws: HTTPError.self) { try await box.upload(to: server) }
                #expect(error?.code == .uploadMismatch && box.names.isEmpty && server.appends.isEmpty)
            }
        }

        @Test(arguments: ["200 OK", "404 Not Found", "405 No", "501 No"])
        func `a server with neither protocol receives nothing of the file`(status: String) async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            server.enqueue("OPTIONS", response(status, "Tus-Version: 0.2.2\r\n"))
            let error = await #expect(throws: HTTPError.self) { try await box.upload(to: server) }
            #expect(error?.code == .uploadUnsupported && server.methods == ["OPTIONS"] && box.names.isEmpty)
        }

        @Test(arguments: [
            (Kind.tus, "Tus-Max-Size", "99999", "0 to 99999 bytes"),
            (.draft, "Upload-Limit", "max-size=99999", "0 to 99999 bytes"),
            (.draft, "Upload-Limit", "min-size=100001", "100001 to any number of bytes"),
            (.tus, "Tus-Checksum-Algorithm", "sha1", "no SHA-256 checksums"),
        ])
        func `a limit of the server is checked before anything is sent`(
            kind: Kind, name: String, value: String, message: String
        ) async throws {
            let (server, box) = (UploadServer(kind) { $0.fields[name] = value }, try Outbox())
            let error = await #expect(throws: HTTPError.self) {
                try await box.upload(to: server) { $0.checksChunks = name == "Tus-Checksum-Algorithm" }
            }
            #expect(error?.code == .uploadUnsupported && error?.message.contains(message) == true)
            #expect(server.methods == ["OPTIONS"] && box.names.isEmpty)
        }

        @Test(arguments: Kind.allCases)
        func `a file that has changed is a new upload`(kind: Kind) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            try await box.begin(at: server)
            let other = Data(repeating: 7, count: 5_000)
            try other.write(to: box.file)
            let response = try await box.upload(to: server)
            #expect(server.complete == [other] && response.upload?.restart == .fileChanged)
            #expect(server.deletedCount == 1 && server.uploads.count == 1 && box.names.isEmpty)
        }

        @Test(arguments: [true, false])
        func `a digest tells a change that the size and the time do not`(isAsked: Bool) async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            server.enqueue("PATCH", .cut(after: 40_000))
            _ = try? await box.upload(to: server, attempts: 0) { $0.checksFile = isAsked }
            let date = try box.file.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate
            var facts = stat()
            stat(box.file.path, &facts)
            try Data(repeating: 7, count: content.count).write(to: box.file)
            let times = [facts.st_mtim, facts.st_mtim]
            #expect(date != nil && utimensat(AT_FDCWD, box.file.path, times, 0) == 0)
            let response = try await box.upload(to: server) { $0.checksFile = isAsked }
            #expect(response.upload?.restart == (isAsked ? .fileChanged : nil))
        }

        @Test(arguments: Kind.allCases)
        func `a file that changes during the upload is an error`(kind: Kind) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            server.enqueue("PATCH", .cut(after: 40_000))
            let template = Post<HTTPResponse>("files").onProgress { [file = box.file] progress in
                guard progress.completedBytes >= 40_000 else { return }
                try? Data(repeating: 7, count: content.count).write(to: file)
            }
            let error = await #expect(throws: HTTPError.self) { try await box.upload(to: server, template) }
            #expect(error?.code == .uploadFileChanged && server.complete.isEmpty)
            let response = try await box.upload(to: server)
            #expect(response.upload?.restart == .fileChanged)
            #expect(server.complete == [Data(repeating: 7, count: content.count)])
        }

        @Test func `wrong input is an error before anything is sent`() async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            let provided = HTTPClient(environment: .provided { _ in ServerEnvironment(baseURL: server.url) })
            let calls: [(String, () async throws -> Void)] = [
                ("has no body", { try await box.upload(to: server, Post<HTTPResponse>("a", body: TextBody("b"))) }),
                ("GET has no content", { try await box.upload(to: server, Get<HTTPResponse>("a")) }),
                ("marked idempotent", { try await box.upload(to: server, Post<HTTPResponse>("a").idempotent()) }),
                ("chunkSize is less than 1", { try await box.upload(to: server) { $0.chunkSize = 0 } }),
                ("maximumAttempts", { try await box.upload(to: server, attempts: -1) }),
                ("set the key", { try await box.upload(to: server, client: provided) }),
            ]
            for (message, call) in calls {
                let error = await #expect(throws: HTTPError.self) { try await call() }
                #expect(error?.code == .invalidRequest && error?.message.contains(message) == true, "\(error as Any)")
            }
            try FileManager.default.removeItem(at: box.file)
            let error = await #expect(throws: HTTPError.self) { try await box.upload(to: server) }
            #expect(error?.code == .invalidRequest && error?.message.contains("does not exist") == true)
            #expect(server.seen.isEmpty && box.names.isEmpty)
        }

        @Test func `an environment of a closure needs a key`() async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            let provided = HTTPClient(environment: .provided { _ in ServerEnvironment(baseURL: server.url) })
            server.enqueue("PATCH", .cut(after: 40_000))
            try await box.upload(to: server, client: provided) { $0.key = "film" }
            #expect(server.isRight() && server.offsets == [0, 40_000])
        }
    }

    extension Result where Failure == any Error {
        fileprivate init(_ body: () async throws -> Success) async {
            do { self = .success(try await body()) } catch { self = .failure(error) }
        }
    }
#endif

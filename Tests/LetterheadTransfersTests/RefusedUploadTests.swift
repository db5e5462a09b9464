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

        @Test(arguments: Kind.allCases, ["400 Bad", "403 Forbidden", "404 Gone", "410 Gone"])
        func `a refusal of the offset that the protocols allow for a forgotten upload starts it again`(
            kind: Kind, status: String
        ) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            try await box.begin(at: server)
            server.enqueue("HEAD", response(status))
            let restarted = try await box.upload(to: server)
            #expect(server.complete == [content] && restarted.upload?.restart == .forgotten && box.names.isEmpty)
        }

        /// Responses to a creation of servers that don't know the protocol, or another version of it.
        @Test(
            arguments: [
                (.draft, "Location: /films/7\r\n"), (.draft, "Location: /films/7\r\nUpload-Complete: 1\r\n"),
                (.draft, "Location: /films/7\r\nTus-Resumable: 1.0.0\r\n"),
                (.draft, "Location: /films/7\r\nUpload-Complete: ?0\r\nUpload-Draft-Interop-Version: 6\r\n"),
                (.draft, "Location: /films/7\r\nUpload-Limit: max-age=9\r\nUpload-Draft-Interop-Version: 7\r\n"),
                (.tus, "Location: /films/7\r\n"), (.tus, "Location: /films/7\r\nTus-Resumable: 0.2.2\r\n"),
                (.tus, "Location: /films/7\r\nUpload-Complete: ?0\r\n"),
            ] as [(Kind, String)], [true, false])
        func `content is sent only where the response to the creation names the protocol`(
            answer: (kind: Kind, fields: String), isConfigured: Bool
        ) async throws {
            let (server, box) = (UploadServer(answer.kind), try Outbox())
            server.enqueue("POST", response(isConfigured ? "201 Created" : "200 OK", answer.fields))
            let error = await #expect(throws: HTTPError.self) {
                try await box.upload(to: server) { if isConfigured { $0.kind = answer.kind == .tus ? .tus : .draft } }
            }
            let remedy = isConfigured ? "don't set the kind" : "supports the other protocol, set the kind"
            #expect(error?.code == .uploadUnsupported && error?.message.contains(remedy) == true)
            let creation = server.methods.filter { $0 != "HEAD" }
            #expect(creation == (isConfigured ? ["POST"] : ["OPTIONS", "POST"]) && box.names.isEmpty)
        }

        /// Since draft 10, a server announces the protocol with Accept-Patch, and needs no other field in a 201.
        @Test(
            arguments: [
                (["Upload-Limit": "max-size=100000"], "Upload-Limit: max-size=100000\r\n"),
                (["Accept-Patch": "text/plain, application/partial-upload"], ""),
                (["Upload-Draft-Interop-Version": "8"], "Upload-Draft-Interop-Version: 8\r\nUpload-Complete: ?0\r\n"),
            ] as [([String: String], String)], [true, false])
        func `a server of any draft with this interop version is used`(
            answer: (announced: [String: String], fields: String), isConfigured: Bool
        ) async throws {
            let (server, box) = (UploadServer(.draft) { $0.fields = answer.announced }, try Outbox())
            let place = server.create(length: content.count)
            server.enqueue("POST", response("201 Created", "Location: \(place)\r\n\(answer.fields)"))
            // A busy server is asked again, and creates no second upload.
            server.enqueue("HEAD", response("503 Busy"))
            try await box.upload(to: server) { if isConfigured { $0.kind = .draft } }
            #expect(server.isRight() && server.methods.filter { $0 == "POST" }.count == 1)
        }

        @Test(arguments: [
            "Upload-Complete: ?0\r\n", "Upload-Offset: 0\r\n", "Upload-Offset: 0\r\nUpload-Complete: ?1\r\n",
            "Upload-Offset: 5\r\nUpload-Complete: ?0\r\n",
            "Upload-Offset: 0\r\nUpload-Complete: ?0\r\nUpload-Draft-Interop-Version: 6\r\n",
        ])
        func `a URL that is no new upload of the draft receives nothing of the content`(fields: String) async throws {
            let (server, box) = (UploadServer(.draft), try Outbox())
            server.enqueue("POST", response("201 Created", "Location: /films/7\r\nUpload-Limit: max-age=9\r\n"))
            server.enqueue("HEAD", response("200 OK", fields))
            let error = await #expect(throws: HTTPError.self) { try await box.upload(to: server) }
            #expect(error?.code == .uploadUnsupported && error?.message.contains("the response to HEAD") == true)
            #expect(server.methods == ["OPTIONS", "POST", "HEAD"] && box.names.isEmpty)
        }

        @Test func `a tus server that announces only its version is used`() async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            server.enqueue("OPTIONS", response("200 OK", "Tus-Resumable: 1.0.0\r\n"))
            try await box.upload(to: server)
            #expect(server.isRight())
        }

        @Test func `another interop version isn't used`() async throws {
            let (server, box) = (UploadServer(.draft) { $0.fields["Upload-Draft-Interop-Version"] = "6" }, try Outbox())
            let error = await #expect(throws: HTTPError.self) { try await box.upload(to: server) }
            #expect(error?.code == .uploadUnsupported && server.methods == ["OPTIONS"])
            #expect(error?.message.contains("set the kind of UploadSettings") == true)
        }

        @Test func `a creation that the resource itself answers completes an upload without content only`() async throws
        {
            let (server, box) = (UploadServer(.draft), try Outbox())
            let complete = response("200 OK", "Upload-Complete: ?1\r\nLocation: /films/7\r\n")
            server.enqueue("POST", complete, complete)
            let error = await #expect(throws: HTTPError.self) { try await box.upload(to: server) }
            #expect(error?.code == .uploadMismatch && error?.response?.status == .ok && box.names.isEmpty)
            #expect(error?.message.contains("may have processed an empty body") == true)
            let empty = try await box.upload(to: server, of: DataBody(Data()))
            #expect(empty.status == .ok && empty.upload == nil && server.appends.isEmpty && box.names.isEmpty)
        }

        @Test(arguments: Kind.allCases)
        func `an error before a later request is sent says that the call has sent something`(kind: Kind) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            let link = ModifyRequest { request in
                guard request.headers["Upload-Offset"] == "50000" else { return }
                throw HTTPError(.cannotAuthenticate, request: request, message: "no token", mayHaveBeenSent: false)
            }
            let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url), attemptLinks: link)
            let error = await failure { try await box.upload(to: server, client: client) { $0.chunkSize = 50_000 } }
            #expect(error?.code == .cannotAuthenticate && error?.mayHaveBeenSent == true && server.offsets == [0])
        }

        @Test(arguments: Kind.allCases, ["404 Gone", "410 Gone"])
        func `it starts again only once`(kind: Kind, status: String) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            server.enqueue("PATCH", response(status), response(status))
            let error = await #expect(throws: HTTPError.self) { try await box.upload(to: server) }
            #expect(error?.code == .unacceptableStatus && server.offsets == [0, 0])
        }

        @Test(arguments: Kind.allCases, ["401 Sign in", "423 Locked", "200 Sign in", "302 Moved", "503 Busy"])
        func `an offset that the server does not tell leaves the upload in the store`(kind: Kind, status: String)
            async throws
        {
            let (server, box) = (UploadServer(kind), try Outbox())
            try await box.begin(at: server)
            server.enqueue("HEAD", response(status))
            await #expect(throws: HTTPError.self) { try await box.upload(to: server, attempts: 0) }
            #expect(box.names.count == 2)
            let response = try await box.upload(to: server)
            #expect(server.isRight() && response.upload?.continuedFrom == 40_000)
        }

        @Test(arguments: Kind.allCases)
        func `an upload stays in the store until another one replaces it`(kind: Kind) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            try await box.begin(at: server)
            server.enqueue("HEAD", response("404 Not Found"))
            server.enqueue("POST", response("403 Forbidden"), response("201 Created"))
            for _ in 0..<2 {
                await #expect(throws: HTTPError.self) { try await box.upload(to: server) }
                #expect(box.names.count == 2)
                server.enqueue("HEAD", response("410 Gone"))
            }
            let restarted = try await box.upload(to: server)
            #expect(restarted.upload?.restart == .forgotten && server.faults.isEmpty && box.names.isEmpty)
        }

        @Test(arguments: Kind.allCases)
        func `an upload that seemed forgotten is continued if no other one began`(kind: Kind) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            try await box.begin(at: server)
            server.enqueue("HEAD", response("404 Not Found"))
            server.enqueue("POST", response("403 Forbidden"))
            await #expect(throws: HTTPError.self) { try await box.upload(to: server) }
            try await box.upload(to: server)
            #expect(server.isRight() && server.offsets == [0, 40_000])
        }

        @Test(arguments: Kind.allCases)
        func `a changed file whose new upload is refused is a new upload in the next call`(kind: Kind) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            try await box.begin(at: server)
            try Data(repeating: 7, count: 5_000).write(to: box.file)
            server.enqueue("POST", response("403 Forbidden"))
            await #expect(throws: HTTPError.self) { try await box.upload(to: server) }
            #expect(box.names.count == 2)
            let response = try await box.upload(to: server)
            #expect(response.upload?.restart == .contentChanged && box.names.isEmpty)
        }

        @Test(arguments: Kind.allCases, ["200 OK", "204 OK", "303 See Other", "409 Conflict"])
        func `a response without the protocol's fields is not the upload's`(kind: Kind, status: String) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            server.enqueue("PATCH", response(status, status == "303 See Other" ? "Location: /login\r\n" : ""))
            server.enqueue("GET", response("200 OK"))
            try await box.upload(to: server)
            #expect(server.isRight() && server.offsets == [0, 0])
        }

        @Test func `a draft's server that never completes the upload is asked a limited number of times`() async throws
        {
            let (server, box) = (UploadServer(.draft), try Outbox())
            let incomplete = UploadServer.Effect.fields(["Upload-Complete": "?0"])
            for method in ["PATCH", "HEAD"] {
                server.enqueue(method, incomplete, incomplete, incomplete, incomplete, incomplete)
            }
            let error = await #expect(throws: HTTPError.self) { try await box.upload(to: server, attempts: 2) }
            #expect(error?.code == .invalidResponse && server.offsets == [0, 100_000, 100_000, 100_000])
        }

        @Test(
            arguments: Kind.allCases,
            [
                ("HEAD", "Upload-Offset", "99999", "confirms 99999 bytes, although it had confirmed 20000 before"),
                ("HEAD", "Upload-Offset", "3", "confirms 3 bytes, although it had confirmed 20000 before"),
                ("HEAD", "Upload-Offset", "-1", "no valid Upload-Offset"),
                ("HEAD", "Upload-Offset", "1x", "no valid Upload-Offset"),
                ("HEAD", "Upload-Length", "7", "the server expects 7 bytes, and the content has 100000"),
                ("PATCH", "Upload-Offset", "40001", "confirms 40001 bytes, although it had confirmed 20000 before"),
                ("PATCH", "Upload-Offset", "19999", "confirms 19999 bytes, although it had confirmed 20000 before"),
            ])
        func `an offset that contradicts what was sent is an error`(
            kind: Kind, fault: (method: String, name: String, value: String, message: String)
        ) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            let effect = UploadServer.Effect.fields([fault.name: fault.value])
            server.enqueue("PATCH", .partial(20_000))
            if fault.method == "HEAD" { server.enqueue("PATCH", .lost) }
            server.enqueue(fault.method, effect)
            let error = await failure { try await box.upload(to: server) { $0.chunkSize = 20_000 } }
            #expect(error?.code == .uploadMismatch && error?.message.contains(fault.message) == true, "\(error as Any)")
            // Nobody knows what the server has, so the next call starts again.
            #expect(box.names.isEmpty && server.complete.isEmpty)
        }

        @Test(arguments: Kind.allCases, [0, 1])
        func `a server that accepts little is asked a limited number of times`(kind: Kind, count: Int) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            for _ in 0..<4 { server.enqueue("PATCH", .partial(count)) }
            let error = await #expect(throws: HTTPError.self) { try await box.upload(to: server, attempts: 3) }
            #expect(error?.code == .invalidResponse && server.offsets == [0, count, 2 * count, 3 * count])
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

        @Test(arguments: [404, 410, 422])
        func `a failure of the draft's resource is the error of the call, and ends the upload`(status: Int) async throws
        {
            let (server, box) = (UploadServer(.draft), try Outbox())
            server.enqueue("PATCH", response("\(status) No film", "Upload-Complete: ?1\r\n"))
            let error = await #expect(throws: HTTPError.self) { try await box.upload(to: server) }
            #expect(error?.code == .unacceptableStatus && error?.response?.status.code == status)
            #expect(server.methods == ["OPTIONS", "POST", "PATCH"] && box.names.isEmpty)
        }

        @Test(arguments: ["PATCH", "HEAD"])
        func `an upload that the draft's server ends early is no success`(method: String) async throws {
            let (server, box) = (UploadServer(.draft), try Outbox())
            if method == "HEAD" { server.enqueue("PATCH", .cut(after: 10)) }
            server.enqueue(method, .fields(["Upload-Complete": "?1"]))
            let error = await failure { try await box.upload(to: server) { $0.chunkSize = 20_000 } }
            #expect(error?.code == .uploadMismatch && error?.message.contains("ended the upload before") == true)
        }

        @Test func `an upload that the draft's server ends with a smaller offset is no success`() async throws {
            let (server, box) = (UploadServer(.draft), try Outbox())
            server.enqueue("PATCH", .fields(["Upload-Complete": "?1", "Upload-Offset": "10"]))
            #expect(await failure { try await box.upload(to: server) }?.code == .uploadMismatch)
        }

        @Test func `an offset of the draft's server that can't be read is asked for`() async throws {
            let (server, box) = (UploadServer(.draft), try Outbox())
            server.enqueue("PATCH", .fields(["Upload-Complete": "?0", "Upload-Offset": "40, 40"]))
            try await box.upload(to: server) { $0.chunkSize = 20_000 }
            #expect(server.methods.contains("HEAD"))
        }

        @Test(arguments: Kind.allCases)
        func `a creation without a usable Location is an error`(kind: Kind) async throws {
            let hint = "104 Upload Resumption Supported\r\nLocation: /films/7\r\n\r\nHTTP/1.1 "
            for (hint, place) in [("", nil), ("", "ftp://a.example/1"), ("", "https://"), (hint, String?.none)] {
                let (server, box) = (UploadServer(kind), try Outbox())
                server.enqueue("POST", response(hint + "201 Created", place.map { "Location: \($0)\r\n" } ?? ""))
                let error = await #expect(throws: HTTPError.self) { try await box.upload(to: server) }
                #expect(error?.code == .uploadUnsupported && box.names.isEmpty && server.appends.isEmpty)
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
            (.draft, "Upload-Limit", "max-append-size=0", "at most 0 bytes in a request"),
            (.draft, "Upload-Limit", "max-append-size=1023", "at most 1023 bytes in a request"),
            (.tus, "Tus-Checksum-Algorithm", "sha1", "verify SHA-256 checksums"),
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
            #expect(server.complete == [other] && response.upload?.restart == .contentChanged)
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
            #expect(response.upload?.restart == (isAsked ? .contentChanged : nil))
        }

        @Test func `a digest that only one of two calls has asked for tells nothing`() async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            try await box.begin(at: server)
            let response = try await box.upload(to: server) { $0.checksFile = true }
            #expect(server.isRight() && response.upload?.continuedFrom == 40_000)
        }

        @Test func `bytes in memory and a file from 1970 with one key are two uploads`() async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            let times = [timespec(), timespec()]
            #expect(utimensat(AT_FDCWD, box.file.path, times, 0) == 0)
            server.enqueue("PATCH", .cut(after: 40_000))
            let bytes = DataBody(Data(content.reversed()))
            _ = try? await box.upload(to: server, of: bytes, attempts: 0) { $0.key = "k" }
            let response = try await box.upload(to: server) { $0.key = "k" }
            #expect(server.complete == [content] && response.upload?.restart == .contentChanged)
        }

        @Test func `a file with more bytes than its size isn't uploaded as an empty one`() async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            let body = FileBody(at: URL(filePath: "/proc/cpuinfo"))
            let error = await #expect(throws: HTTPError.self) { try await box.upload(to: server, of: body) }
            #expect(error?.code == .invalidRequest && server.seen.isEmpty && box.names.isEmpty)
        }

        @Test func `a deadline that passes during a chunk names the chunk's request`() async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            server.enqueue("PATCH", .stall(after: 10))
            let template = Post<HTTPResponse>("files").deadline(in: .milliseconds(500))
            let error = await #expect(throws: HTTPError.self) { try await box.upload(to: server, template) }
            #expect(error?.code == .timedOut && error?.request.method == .patch)
            #expect(error?.message == "the deadline passed while waiting for the response")
        }

        /// Also if only the last response is lost.
        @Test(arguments: Kind.allCases, [40_000, content.count])
        func `a file that changes during the upload is an error`(kind: Kind, count: Int) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            let isSent = count == content.count
            server.enqueue("PATCH", isSent ? .lost : .cut(after: count))
            let error = await failure { try await box.upload(to: server, box.changing(after: count)) }
            #expect(error?.code == .uploadFileChanged && (isSent || server.complete.isEmpty))
            if isSent { return }
            let response = try await box.upload(to: server)
            #expect(response.upload?.restart == .contentChanged)
            #expect(server.complete == [Data(repeating: 7, count: content.count)])
        }

        @Test(arguments: Kind.allCases)
        func `a file that changed and was restored is a new upload`(kind: Kind) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            var facts = stat()
            stat(box.file.path, &facts)
            server.enqueue("PATCH", .cut(after: 40_000))
            await #expect(throws: HTTPError.self) { try await box.upload(to: server, box.changing(after: 40_000)) }
            try content.write(to: box.file)
            let times = [facts.st_mtim, facts.st_mtim]
            #expect(utimensat(AT_FDCWD, box.file.path, times, 0) == 0)
            let response = try await box.upload(to: server)
            #expect(response.upload?.restart == .contentChanged && server.complete == [content])
        }

        @Test func `wrong input is an error before anything is sent`() async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            let provided = HTTPClient(environment: .provided { _ in ServerEnvironment(baseURL: server.url) })
            let hostless = HTTPClient(environment: ServerEnvironment(baseURL: URL(filePath: "/v1")))
            let calls: [(String, () async throws -> Void)] = [
                (
                    "must not have a body",
                    { try await box.upload(to: server, Post<HTTPResponse>("a", body: TextBody("b"))) }
                ),
                ("created with GET", { try await box.upload(to: server, Get<HTTPResponse>("a")) }),
                ("created with QUERY", { try await box.upload(to: server, Endpoint<HTTPResponse>(.query, "a")) }),
                ("marked as idempotent", { try await box.upload(to: server, Post<HTTPResponse>("a").idempotent()) }),
                ("a key of metadata", { try await box.upload(to: server) { $0.metadata = ["a b": "c"] } }),
                ("a key of metadata", { try await box.upload(to: server) { $0.metadata = ["": "c"] } }),
                (
                    "the header Upload-Metadata",
                    {
                        try await box.upload(to: server, Post<HTTPResponse>("a", headers: ["Upload-Metadata": "a"])) {
                            $0.metadata = ["filetype": "text/plain"]
                        }
                    }
                ),
                ("chunkSize is less than 1", { try await box.upload(to: server) { $0.chunkSize = 0 } }),
                ("maximumRetries", { try await box.upload(to: server, attempts: -1) }),
                ("set the key", { try await box.upload(to: server, client: provided) }),
                ("the base URL begins with neither", { try await box.upload(to: server, client: hostless) }),
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
    }
#endif

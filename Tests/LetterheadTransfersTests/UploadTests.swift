// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Letterhead
    import LetterheadTesting
    import LetterheadTransfers
    import Synchronization
    import TestKit
    import Testing

    @Suite(.timeLimit(.minutes(3))) struct UploadTests {
        typealias Kind = UploadServer.Kind

        @Test(arguments: Kind.allCases)
        func `a file is created and sent in one chunk, and nothing is left`(kind: Kind) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            let response = try await box.upload(to: server)
            #expect(server.isRight() && server.methods == ["OPTIONS", "POST", "PATCH"] && box.names.isEmpty)
            #expect(response.status == (kind == .tus ? .noContent : .ok))
            #expect(response.body.buffered == Data((kind == .tus ? "" : "{\"id\":7}").utf8))
            #expect(response.upload?.continuedFrom == 0 && response.upload?.restart == nil)
            #expect(response.upload?.url.path().hasPrefix("/uploads/") == true)
        }

        @Test func `the requests of tus have the fields of its document`() async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            try await box.begin(at: server, cutAt: 70)
            try await box.upload(to: server)
            let (post, head, patch) = (server.seen[1].headers, server.seen[3].headers, server.seen[4].headers)
            #expect(server.methods == ["OPTIONS", "POST", "PATCH", "HEAD", "PATCH"])
            #expect(server.seen[0].headers["tus-resumable"] == nil)
            #expect(post["content-length"] == "0" && post["upload-length"] == "100000")
            #expect(post["tus-resumable"] == "1.0.0" && post["content-type"] == nil)
            #expect(post["upload-metadata"] == "filename ZmlsbSDDqS5tcDQ=,filetype dmlkZW8vbXA0")
            #expect(head["tus-resumable"] == "1.0.0" && head["upload-offset"] == nil)
            #expect(patch["tus-resumable"] == "1.0.0" && patch["upload-offset"] == "70")
            #expect(patch["content-type"] == "application/offset+octet-stream" && patch["content-length"] == "99930")
            #expect(patch["upload-metadata"] == nil && patch["upload-length"] == nil && patch["expect"] == nil)
        }

        @Test func `the requests of the draft have the fields of its document`() async throws {
            let (server, box) = (UploadServer(.draft), try Outbox())
            server.enqueue("PATCH", .cut(after: 70))
            let template = Post<HTTPResponse>("files", headers: ["Content-Disposition": "inline; filename=a.mp4"])
            _ = try? await box.upload(to: server, template, attempts: 0)
            _ = try await box.upload(to: server, template)
            let (post, head, patch) = (server.seen[1].headers, server.seen[3].headers, server.seen[4].headers)
            #expect(server.methods == ["OPTIONS", "POST", "PATCH", "HEAD", "PATCH"])
            #expect(server.seen[0].headers["upload-complete"] == nil)
            #expect(server.seen[0].headers["upload-draft-interop-version"] == "8")
            #expect(post["content-length"] == "0" && post["upload-length"] == "100000")
            #expect(post["upload-complete"] == "?0" && post["content-type"] == "video/mp4")
            #expect(head["upload-draft-interop-version"] == "8" && head["upload-offset"] == nil)
            #expect(patch["upload-complete"] == "?1" && patch["upload-offset"] == "70")
            #expect(patch["content-type"] == "application/partial-upload" && patch["content-length"] == "99930")
            #expect(patch["content-disposition"] == nil && patch["upload-length"] == nil)
        }

        @Test(arguments: Kind.allCases, [0, 1, 16_384, 65_537, 99_999])
        func `a connection that is cut is continued at the server's offset`(kind: Kind, cut: Int) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            server.enqueue("PATCH", .cut(after: cut), .cut(after: 0))
            try await box.upload(to: server)
            #expect(server.isRight() && server.offsets == [0, cut, cut] && box.names.isEmpty)
            #expect(server.methods == ["OPTIONS", "POST", "PATCH", "HEAD", "PATCH", "HEAD", "PATCH"])
        }

        @Test(arguments: Kind.allCases)
        func `nothing is sent again if only the last response was lost`(kind: Kind) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            server.enqueue("PATCH", .lost)
            let response = try await box.upload(to: server)
            #expect(server.isRight() && response.status.isSuccess && box.names.isEmpty)
            // The draft's server sends its response again.
            #expect(response.body.buffered?.count == (kind == .tus ? 0 : 8))
            #expect(server.offsets == (kind == .tus ? [0] : [0, 100_000]))
        }

        @Test func `the draft's last request has no Expect if it has no content`() async throws {
            let (server, box) = (UploadServer(.draft), try Outbox())
            server.enqueue("PATCH", .cut(after: 60_000), .lost)
            try await box.upload(to: server)
            #expect(server.isRight() && server.offsets == [0, 60_000, 100_000])
            #expect(server.appends.map { $0.headers["expect"] } == [nil, "100-continue", nil])
        }

        @Test func `a lost final response that the server does not repeat is a success`() async throws {
            let (server, box) = (UploadServer(.draft), try Outbox())
            server.enqueue("PATCH", .lost, .response("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"))
            let response = try await box.upload(to: server)
            #expect(server.isRight() && response.status == .noContent && box.names.isEmpty)
        }

        @Test(arguments: Kind.allCases)
        func `a failed creation is tried again`(kind: Kind) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            server.enqueue("OPTIONS", .lost)
            server.enqueue("POST", .lost, .response("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"))
            try await box.upload(to: server)
            #expect(server.complete == [content] && server.faults.isEmpty)
            #expect(server.methods == ["OPTIONS", "OPTIONS", "POST", "POST", "POST", "PATCH"])
        }

        @Test(arguments: Kind.allCases)
        func `chunks have the size of the settings`(kind: Kind) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            server.enqueue("PATCH", .lost, .partial(10_000))
            try await box.upload(to: server) { $0.chunkSize = 30_000 }
            #expect(server.isRight() && server.offsets == [0, 30_000, 40_000, 70_000])
            let ends = server.appends.map { $0.headers["upload-complete"] }
            #expect(kind == .tus || ends == ["?0", "?0", "?0", "?1"])
        }

        @Test(
            arguments: [
                ("max-size=100000, max-append-size=40000;a=1, other=\"x, y\"", 50_000, [0, 40_000, 80_000]),
                ("min-append-size=60000", 5, [0, 60_000]),
                // A field with a wrong type is ignored.
                ("max-append-size=40000, max-size=?1", nil, [0]),
            ] as [(String, Int?, [Int?])])
        func `the limits of the draft determine the chunks`(limit: String, size: Int?, offsets: [Int?]) async throws {
            let (server, box) = (UploadServer(.draft) { $0.fields["Upload-Limit"] = limit }, try Outbox())
            try await box.upload(to: server) { $0.chunkSize = size }
            #expect(server.isRight() && server.offsets == offsets)
        }

        @Test(arguments: Kind.allCases)
        func `a chunk that a proxy refuses as too large is sent in smaller ones`(kind: Kind) async throws {
            let (server, box) = (UploadServer(kind), try Outbox(content + content + content))
            server.enqueue("PATCH", .response("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"))
            try await box.upload(to: server)
            #expect(server.isRight(content + content + content))
            #expect(server.offsets == [0, 0, 75_000, 150_000, 225_000])
        }

        @Test(arguments: Kind.allCases)
        func `the progress never decreases and ends with the file`(kind: Kind) async throws {
            let (server, box, log) = (UploadServer(kind), try Outbox(), ProgressLog())
            server.enqueue("PATCH", .cut(after: 50_000), .cut(after: 1), .lost)
            try await box.upload(to: server, Post<HTTPResponse>("files").onProgress { log.add($0) })
            let counts = log.all.map(\.completedBytes)
            #expect(counts == Array(Set(counts)).sorted() && counts.last == content.count)
            #expect(log.all.allSatisfy { $0.totalBytes == content.count && $0.direction == .upload })
        }

        @Test(arguments: Kind.allCases)
        func `credentials are renewed in the middle`(kind: Kind) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            server.enqueue("PATCH", .partial(50_000), .response("HTTP/1.1 401 Old\r\nContent-Length: 0\r\n\r\n"))
            let tokens = Mutex(0)
            let client = HTTPClient(
                environment: ServerEnvironment(baseURL: server.url),
                authentication: .bearer { _ in Secret("token-\(tokens.withLock { $0 += 1; return $0 })") })
            try await box.upload(to: server, client: client)
            #expect(server.isRight() && server.offsets == [0, 50_000, 50_000])
            #expect(
                server.appends.map { $0.headers["authorization"] ?? "" }
                    == ["1", "1", "2"].map { "Bearer token-\($0)" })
        }

        @Test(arguments: Kind.allCases)
        func `the headers of a template and an environment are sent with all requests`(kind: Kind) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            let environment = ServerEnvironment(baseURL: server.url, headers: ["X-Api-Key": "1"], query: ["v": "2"])
            let template = Post<HTTPResponse>("files", headers: ["X-Tenant": "3", "Content-Language": "de"])
            server.enqueue("PATCH", .lost)
            try await box.upload(to: server, template, client: HTTPClient(environment: environment))
            #expect(server.seen.allSatisfy { $0.headers["x-api-key"] == "1" && $0.headers["x-tenant"] == "3" })
            #expect(server.seen.map { $0.headers["content-language"] }.prefix(3) == ["de", "de", nil])
            #expect(server.seen.map(\.path).prefix(2) == ["/files?v=2", "/files?v=2"])
            #expect(server.appends.allSatisfy { $0.path.hasSuffix("?key=capability") })
        }

        @Test(arguments: Kind.allCases)
        func `conditions are sent with the creation only, and the protocol's fields win`(kind: Kind) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            let conditions = ["If-Match": "\"a\"", "If-None-Match": "*", "Range": "bytes=0-"]
            var headers = HTTPHeaders(conditions)
            headers[.cacheControl] = "max-age=60"
            let template = Post<HTTPResponse>("files", headers: headers)
            server.enqueue("PATCH", .lost)
            try await box.upload(to: server, template)
            let heads = server.seen.filter { $0.method == "HEAD" }
            #expect(conditions.allSatisfy { server.seen[1].headers[$0.key.lowercased()] == $0.value })
            for seen in server.appends + heads {
                #expect(conditions.allSatisfy { seen.headers[$0.key.lowercased()] == nil })
            }
            #expect(server.isRight() && heads.map { $0.headers["cache-control"] } == ["no-store"])
        }

        @Test(arguments: Kind.allCases, [nil, true, false])
        func `another origin receives no secrets, neither in a chunk nor in a later call`(
            kind: Kind, isOfTemplate: Bool?
        ) async throws {
            let (server, other, box) = (UploadServer(kind), UploadServer(kind), try Outbox())
            server.enqueue("POST", .created(at: "\(other.url.absoluteString)/uploads/1", kind))
            for method in ["PATCH", "HEAD"] {
                other.enqueue(method, .response("HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n"))
            }
            let bearer = HTTPAuthentication.bearer("t", allowedOrigins: [server.url, other.url])
            let client = HTTPClient(
                environment: ServerEnvironment(baseURL: server.url, headers: ["X-Env": "4"]),
                authentication: isOfTemplate == false ? bearer : nil)
            let template = Post<HTTPResponse>("files", headers: ["X-Api-Key": "1", "X-Tenant": "3"])
            for _ in 0..<2 {
                await #expect(throws: HTTPError.self) {
                    if isOfTemplate == true {
                        try await box.upload(
                            to: server, template.authenticated(by: bearer), attempts: 0, client: client)
                    } else {
                        try await box.upload(to: server, template, attempts: 0, client: client)
                    }
                }
            }
            #expect(other.methods == ["PATCH", "HEAD"] && server.methods.prefix(2) == ["OPTIONS", "POST"])
            let secret = ["authorization", "x-api-key", "x-env"]
            #expect(other.seen.allSatisfy { $0.headers["x-tenant"] == "3" && secret.allSatisfy($0.lacks) })
            #expect(server.seen[1].headers["authorization"] == (isOfTemplate == nil ? nil : "Bearer t"))
            #expect(server.seen[1].headers["x-api-key"] == "1" && server.seen[1].headers["x-env"] == "4")
        }

        @Test(arguments: Kind.allCases, [RedirectPolicy.never, .sameOrigin, nil])
        func `the redirect policy decides whether an upload may be at another origin`(
            kind: Kind, policy: RedirectPolicy?
        ) async throws {
            let (server, other, box) = (UploadServer(kind), UploadServer(kind), try Outbox())
            let client = server.client.configured {
                if let policy { $0.redirectPolicy = policy } else { $0.isSecret = true }
            }
            try await box.upload(to: server, client: client)
            #expect(server.isRight())
            server.enqueue("POST", .created(at: "\(other.url.absoluteString)/uploads/1", kind))
            let error = await failure { try await box.upload(to: server, client: client) }
            #expect(error?.code == .uploadUnsupported && error?.message.contains("the redirect policy forbids") == true)
            #expect(other.seen.isEmpty && box.names.isEmpty)
        }

        @Test func `a server with https that names a URL with http receives nothing of the file`() async throws {
            let mock = MockLoader {
                HTTPResponse(
                    request: $0, status: $0.method == .post ? .created : .noContent,
                    headers: ["Tus-Version": "1.0.0", "Tus-Resumable": "1.0.0", "Location": "http://a.test/uploads/1"])
            }
            let (box, client) = (
                try Outbox(), HTTPClient(environment: ServerEnvironment("https://a.test"), transport: mock)
            )
            let error = await #expect(throws: HTTPError.self) {
                try await client.upload(Post<HTTPResponse>("files"), from: DataBody(content), resuming: box.store)
            }
            #expect(
                error?.code == .uploadUnsupported && error?.message.contains("must know the forwarded scheme") == true)
            #expect(mock.requests.map(\.method) == [.options, .post] && box.names.isEmpty)
        }

        @Test(arguments: Kind.allCases)
        func `an origin to which the creation was redirected chooses no URL at the first one`(kind: Kind) async throws {
            let (server, other, box) = (UploadServer(kind), UploadServer(kind), try Outbox())
            let place = "Location: \(other.url.absoluteString)/files"
            server.enqueue("POST", .response("HTTP/1.1 307 Moved\r\n\(place)\r\nContent-Length: 0\r\n\r\n"))
            other.enqueue("POST", .created(at: "\(server.url.absoluteString)/films/7", kind))
            let error = await #expect(throws: HTTPError.self) { try await box.upload(to: server) }
            #expect(error?.code == .uploadUnsupported && error?.message.contains("at the first origin") == true)
            #expect(server.methods == ["OPTIONS", "POST"] && other.methods == ["POST"] && box.names.isEmpty)
        }

        @Test func `content that has changed deletes nothing at another origin`() async throws {
            let (server, other, box) = (UploadServer(.tus), UploadServer(.tus), try Outbox())
            server.enqueue("POST", .created(at: "\(other.url.absoluteString)/films/1", .tus))
            other.enqueue("PATCH", .response("HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n"))
            for bytes in [content, Data(content.reversed())] {
                _ = try? await box.upload(to: server, of: DataBody(bytes), attempts: 0) { $0.key = "k" }
            }
            #expect(other.methods == ["PATCH"] && server.complete == [Data(content.reversed())])
        }

        @Test(arguments: Kind.allCases)
        func `a digest of each chunk is sent and checked`(kind: Kind) async throws {
            let (server, box) = (UploadServer(kind) { $0.hash = SHA256Hash.hash }, try Outbox())
            server.enqueue("PATCH", .response("HTTP/1.1 460 Mismatch\r\nContent-Length: 0\r\n\r\n"))
            try await box.upload(to: server) {
                $0.checksChunks = true; $0.chunkSize = 60_000
            }
            #expect(server.isRight() && server.offsets == [0, 0, 60_000])
            let name = kind == .tus ? "upload-checksum" : "content-digest"
            #expect(server.appends.allSatisfy { $0.headers[name]?.hasPrefix("sha") == true })
        }

        @Test func `the draft's creation has the digest of the file`() async throws {
            let (server, box) = (UploadServer(.draft), try Outbox(Data("hello world".utf8)))
            try await box.upload(to: server) { $0.checksFile = true }
            #expect(server.seen[1].headers["repr-digest"] == "sha-256=:uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek=:")
            #expect(server.appends[0].headers["repr-digest"] == nil)
        }

        /// Resets the client when the upload is complete, before the call ends.
        private struct ResetAtEnd: RequestTemplate {
            let client: HTTPClient
            let method = HTTPMethod.post
            let path: RequestPath = "files"

            func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse {
                await client.reset()
                return try result.get()
            }
        }

        @Test(arguments: Kind.allCases)
        func `a reset before the call ends makes no later call send anything again`(kind: Kind) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            let client = server.client
            let error = await #expect(throws: HTTPError.self) {
                try await box.upload(to: server, ResetAtEnd(client: client), client: client) { $0.key = "k" }
            }
            #expect(error?.code == .cancelled && box.names.count == 2)
            let response = try await box.upload(to: server, client: client) { $0.key = "k" }
            #expect(server.isRight() && box.names.isEmpty && response.upload?.continuedFrom == content.count)
        }

        /// Returns a response of its own, as a template does that unwraps an envelope.
        private struct Unwrapping: RequestTemplate {
            let method = HTTPMethod.post
            let path: RequestPath = "files"

            func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse {
                HTTPResponse(request: try result.get().request, status: .ok)
            }
        }

        @Test func `an upload whose template returns another response is complete, too`() async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            try await box.upload(to: server, Unwrapping(), client: server.client)
            #expect(server.isRight() && box.names.isEmpty)
        }

        @Test func `a template can't replace the fields of the protocol`() async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            let headers: HTTPHeaders = ["Upload-Length": "5", "Tus-Resumable": "0.2", "Upload-Metadata": "a Yg=="]
            try await box.upload(to: server, Post<HTTPResponse>("a", headers: headers))
            #expect(server.isRight() && server.seen[1].headers["upload-metadata"] == "a Yg==")
        }

        @Test func `an upload that waits tells observers and closures, and its error lists the attempts`() async throws
        {
            let (server, box, recorder) = (UploadServer(.tus), try Outbox(), EventRecorder())
            let busy = UploadServer.Effect.response("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
            server.enqueue("PATCH", busy, busy, busy)
            let own = Mutex<[Retry.Context]>([])
            let clients = Mutex<[Int]>([])
            let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url), observers: [recorder])
                .onRetry { retry in clients.withLock { $0.append(retry.retry) } }
            let template = Post<HTTPResponse>("files").onRetry { retry in own.withLock { $0.append(retry) } }
            let error = await failure { try await box.upload(to: server, template, attempts: 2, client: client) }
            #expect(
                error?.attempts.map { $0.status } == [503, 503, 503] && error?.attempts.map(\.number) == [1, 2, 3])
            #expect(error?.attempts.map { $0.delay } == [.zero, .zero, nil])
            #expect(error?.description.contains("after 3 attempts") == true)
            #expect(own.withLock { $0.map(\.retry) } == [1, 2] && clients.withLock { $0 } == [1, 2])
            #expect(own.withLock { $0.map { $0.failure?.response?.status } } == [503, 503])
            let events = recorder.events.filter { $0.name == .retryDecided && $0[.isRetried] == true }
            #expect(events.map { $0[.reason] } == ["the upload continues", "the upload continues"])
            #expect(events.allSatisfy { $0[.wait] == .zero && $0[.status] == 503 && $0[.origin] != nil })
        }

        @Test func `progress doesn't count the framing of a signed body`() async throws {
            let (box, log) = (try Outbox(), ProgressLog())
            let mock = MockLoader { request in
                for share in [0.25, 0.5, 1] where request.method == .patch {
                    let progress = HTTPRequest.Progress(
                        direction: .upload, completedBytes: Int(100_300 * share), totalBytes: 100_300)
                    request.onProgress?(progress)
                }
                return HTTPResponse(
                    request: request, status: request.method == .post ? .created : .noContent,
                    headers: [
                        "Tus-Version": "1.0.0", "Tus-Resumable": "1.0.0", "Location": "/uploads/1",
                        "Upload-Offset": "100000",
                    ])
            }
            let client = HTTPClient(environment: ServerEnvironment("https://a.test"), transport: mock)
            try await client.upload(
                Post<HTTPResponse>("files").onProgress { log.add($0) }, from: FileBody(at: box.file),
                resuming: box.store)
            #expect(log.all.map(\.completedBytes) == [25_000, 50_000, 100_000])
        }
    }
#endif

// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Letterhead
    import LetterheadTransfers
    import TestKit
    import Testing

    /// Other contents than whole files.
    @Suite(.timeLimit(.minutes(3))) struct UploadContentTests {
        typealias Kind = UploadServer.Kind

        @Test(arguments: Kind.allCases, [nil, 30_000])
        func `bytes in memory are continued by another call`(kind: Kind, size: Int?) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            server.enqueue("PATCH", .cut(after: 20_000))
            for attempts in [0, 5] {
                // A slice, as it comes from a larger message.
                let body = DataBody((Data(count: 7) + content).dropFirst(7), contentType: "image/png")
                let response = try? await box.upload(to: server, of: body, attempts: attempts) { $0.chunkSize = size }
                #expect(response?.upload?.continuedFrom == (attempts == 0 ? nil : 20_000))
            }
            #expect(server.isRight() && box.names.isEmpty)
            let post = server.seen[1].headers
            #expect(post["upload-metadata"] == (kind == .tus ? "filetype aW1hZ2UvcG5n" : nil))
            #expect(post["content-type"] == (kind == .draft ? "image/png" : nil))
            #expect((post["repr-digest"] != nil) == (kind == .draft))
        }

        @Test func `other bytes for the same URL are another upload, and the first one can still be continued`()
            async throws
        {
            let (server, box) = (UploadServer(.tus), try Outbox())
            server.enqueue("PATCH", .cut(after: 20_000))
            _ = try? await box.upload(to: server, of: DataBody(content), attempts: 0)
            let other = try await box.upload(to: server, of: DataBody(Data(content.reversed())))
            #expect(other.upload?.restart == nil && server.deletedCount == 0)
            #expect(try await box.upload(to: server, of: DataBody(content)).upload?.continuedFrom == 20_000)
        }

        @Test(arguments: Kind.allCases)
        func `a range of a file is continued inside of the range`(kind: Kind) async throws {
            let (server, box) = (UploadServer(kind), try Outbox())
            server.enqueue("PATCH", .cut(after: 20_000))
            let body = FileBody(at: box.file, range: 1_000..<90_000)
            let response = try await box.upload(to: server, of: body)
            #expect(server.isRight(content[1_000..<90_000]) && response.upload?.restart == nil)
            #expect(server.offsets == [0, 20_000])
        }

        @Test(arguments: [nil, "k"]) func `another range of a file is another upload`(key: String?) async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            server.enqueue("PATCH", .cut(after: 20_000))
            let bodies = [0..<50_000, 50_000..<100_000].map { FileBody(at: box.file, range: $0) }
            _ = try? await box.upload(to: server, of: bodies[0], attempts: 0) { $0.key = key }
            let response = try await box.upload(to: server, of: bodies[1]) { $0.key = key }
            #expect(server.complete == [content[50_000...]] && response.upload?.continuedFrom == 0)
            #expect(response.upload?.restart == (key == nil ? nil : .contentChanged))
        }

        @Test func `the client's encoder applies to the content`() async throws {
            struct Film: Encodable { let filmTitle = "Dune" }
            let encoder = JSONEncoder()
            encoder.keyEncodingStrategy = .convertToSnakeCase
            let (server, box) = (UploadServer(.tus), try Outbox())
            let template = Post<HTTPResponse>("files").encoder(encoder)
            try await box.upload(to: server, template, of: JSONBody(Film()))
            #expect(server.complete == [Data(#"{"film_title":"Dune"}"#.utf8)])
        }

        @Test func `content that can't be encoded is an error before anything is sent`() async throws {
            struct Broken: HTTPBody { func encode() throws -> Data { throw URLError(.unknown) } }
            let (server, box) = (UploadServer(.tus), try Outbox())
            let error = await #expect(throws: HTTPError.self) { try await box.upload(to: server, of: Broken()) }
            #expect(error?.code == .invalidRequest && error?.mayHaveBeenSent == false && server.seen.isEmpty)
        }

        @Test func `a content coding is refused by tus, and sent in the draft`() async throws {
            let (tus, draft, box) = (UploadServer(.tus), UploadServer(.draft), try Outbox())
            let body = TextBody("a").compressed()
            let error = await #expect(throws: HTTPError.self) { try await box.upload(to: tus, of: body) }
            #expect(error?.code == .uploadUnsupported && tus.methods == ["OPTIONS"] && box.names.isEmpty)
            try await box.upload(to: draft, of: body)
            #expect(draft.seen[1].headers["content-encoding"] == "gzip")
        }

        @Test func `content without a name and a type has no metadata`() async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            try await box.upload(to: server, of: DataBody(content))
            #expect(server.isRight() && server.seen[1].headers["upload-metadata"] == nil)
        }

        @Test func `headers of the content describe the upload of the draft`() async throws {
            let (server, box) = (UploadServer(.draft), try Outbox())
            let body = DataBody(content, contentType: "text/plain", additionalHeaders: ["Content-Language": "fr"])
            try await box.upload(to: server, of: body)
            #expect(server.seen[1].headers["content-language"] == "fr" && server.isRight())
            #expect(server.appends[0].headers["content-language"] == nil)
        }

        @Test func `content that can only be read from its beginning is refused`() async throws {
            let (server, box) = (UploadServer(.tus), try Outbox())
            let bodies: [any HTTPBody] = [
                StreamBody { AsyncStream<Data> { $0.finish() } }, FileBody(at: box.file).compressed(),
            ]
            for body in bodies {
                let error = await #expect(throws: HTTPError.self) { try await box.upload(to: server, of: body) }
                #expect(error?.code == .invalidRequest && server.seen.isEmpty && box.names.isEmpty)
                #expect("\(error as Any)".contains("a FileBody or a body in memory"))
            }
        }

        @Test func `metadata of the settings is added to the name and the type, and replaces them`() async throws {
            let (server, draft, box) = (UploadServer(.tus), UploadServer(.draft), try Outbox())
            let metadata = ["filetype": "audio/ogg", "album": "Kid A", "empty": ""]
            try await box.upload(to: server) { $0.metadata = metadata }
            let name = "filename ZmlsbSDDqS5tcDQ="
            #expect(server.seen[1].headers["upload-metadata"] == "\(name),album S2lkIEE=,empty,filetype YXVkaW8vb2dn")
            let error = await failure { try await box.upload(to: draft) { $0.metadata = metadata } }
            #expect(error?.code == .uploadUnsupported && draft.methods == ["OPTIONS"] && box.names.isEmpty)
            try await box.begin(at: server)
            #expect(try await box.upload(to: server) { $0.metadata = metadata }.upload?.continuedFrom == 0)
        }

        @Test(arguments: Kind.allCases)
        func `an empty file is an upload`(kind: Kind) async throws {
            let (server, box) = (UploadServer(kind), try Outbox(Data()))
            let response = try await box.upload(to: server)
            #expect(server.isRight(Data()) && response.status == (kind == .tus ? .created : .ok))
            #expect(server.methods == (kind == .tus ? ["OPTIONS", "POST"] : ["OPTIONS", "POST", "PATCH"]))
        }
    }
#endif

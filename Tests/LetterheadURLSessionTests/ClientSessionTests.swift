// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    import Foundation
    import Letterhead
    import LetterheadTesting
    import LetterheadURLSession
    import TestKit
    import Testing

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    private typealias URLSession = ClientSession

    /// What a call throws.
    private func code(_ body: () async throws -> Void) async throws -> URLError.Code {
        try await #require(throws: URLError.self) { try await body() }.code
    }

    @Suite struct ClientSessionTests {
        private let session = URLSession(configuration: .ephemeral)

        @Test func `a response with any status is a result, with its body and the URL after redirects`() async throws {
            let server = try await MockServer.start { request in
                request.path == "/a"
                    ? MockServer.Response(status: 302, headers: ["Location": "/b"]) : .text("gone", status: 404)
            }
            let (data, response) = try await session.data(from: server.url.appending(path: "a"), delegate: nil)
            let head = try #require(response as? HTTPURLResponse)
            #expect(data == Data("gone".utf8) && head.statusCode == 404 && head.url?.path == "/b")
            #expect(head.mimeType == "text/plain" && head.expectedContentLength == 4)
            await server.stop()
        }

        @Test(
            arguments: [
                ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut", .networkConnectionLost),
                ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\ncut", .networkConnectionLost),
                ("", .networkConnectionLost), ("SSH-2.0\r\n\r\n", .badServerResponse),
                ("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", .httpTooManyRedirects),
                ("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\ncut", .cannotDecodeContentData),
            ] as [(String, URLError.Code)])
        func `a fault of the server is an error with Foundation's code`(raw: String, expected: URLError.Code)
            async throws
        {
            let server = try await MockServer.start()
            server.enqueue(.raw(raw), times: .max)
            let error = try await #require(throws: URLError.self) { try await session.data(from: server.url) }
            #expect(error.code == expected && error.failingURL?.port == server.port)
            #expect(error.userInfo[NSUnderlyingErrorKey] is HTTPError)
            await server.stop()
        }

        @Test(
            arguments: [("ftp://a.test", .unsupportedURL), ("http://127.0.0.1:1", .cannotConnectToHost)]
                as [(String, URLError.Code)])
        func `a URL that can't be loaded is an error with Foundation's code`(
            url: String, expected: URLError.Code
        ) async throws {
            let url = try #require(URL(string: url))
            #expect(try await code { _ = try await session.data(from: url) } == expected)
        }

        @Test func `the timeoutInterval limits the time without a byte`() async throws {
            let server = try await MockServer.start()
            server.enqueue(.response(.text("late")).fault(.stall, at: .responseBody))
            var request = URLRequest(url: server.url)
            request.timeoutInterval = 0.1
            let late = request
            #expect(try await code { _ = try await session.data(for: late) } == .timedOut)
            await server.stop()
        }

        @Test func `a cancelled task throws cancelled, and the connection is closed`() async throws {
            let server = try await MockServer.start()
            server.enqueue(.response(.text("never")).fault(.stall, at: .responseBody), times: .max)
            let load = Task { [session] in
                try await code { _ = try await session.data(from: server.url) }
            }
            try await server.record { $0.requests.count == 1 }
            load.cancel()
            #expect(try await load.value == .cancelled)
            try await server.record { $0.connections.first?.isOpen == false }
            let again = Task { [session] in
                withUnsafeCurrentTask { $0?.cancel() }
                return try await code { _ = try await session.bytes(from: server.url) }
            }
            #expect(try await again.value == .cancelled)
            await server.stop()
        }

        @Test func `bytes and lines arrive while the server still sends, and dropping them closes the connection`()
            async throws
        {
            let (chunks, sender) = AsyncStream.makeStream(of: Data.self)
            let server = try await MockServer.start { _ in MockServer.Response(chunks: chunks) }
            sender.yield(Data("a\n\nb".utf8))
            var (bytes, response) = try await session.bytes(from: server.url) as (URLSession.AsyncBytes?, URLResponse)
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            var lines = bytes?.lines.makeAsyncIterator()
            #expect(try await lines?.next() == "a")
            sender.yield(Data("c\n".utf8))
            #expect(try await lines?.next() == "bc")
            (bytes, lines) = (nil, nil)
            try await server.record { $0.connections.first?.isOpen == false }
            await server.stop()
        }

        @Test func `a reader that is cancelled receives cancelled`() async throws {
            let (chunks, sender) = AsyncStream.makeStream(of: Data.self)
            let server = try await MockServer.start { _ in MockServer.Response(chunks: chunks) }
            sender.yield(Data("ab".utf8))
            let (bytes, _) = try await session.bytes(from: server.url)
            let (read, reading) = AsyncStream.makeStream(of: UInt8.self)
            let reader = Task {
                try await code { for try await byte in bytes { reading.yield(byte) } }
            }
            var arrived = read.makeAsyncIterator()
            #expect(await [arrived.next(), arrived.next()] == Array("ab".utf8))
            reader.cancel()
            #expect(try await reader.value == .cancelled)
            await server.stop()
        }

        @Test(arguments: [
            ("a\r\nb\rc\n", ["a", "b", "c"]), ("\n\na\n", ["a"]), ("", []), ("a", ["a"]),
            ("a\u{2028}b\u{85}\u{0C}c é\u{E000}", ["a", "b", "c é\u{E000}"]),
        ]) func `lines end as Foundation's do, and empty ones are left out`(text: String, lines: [String]) async throws
        {
            let mock = MockLoader { .ok($0, body: Data(text.utf8)) }
            let (bytes, _) = try await URLSession(HTTPClient(transport: mock)).bytes(for: Self.request)
            var found: [String] = []
            for try await line in bytes.lines { found.append(line) }
            #expect(found == lines)
        }

        private static var request: URLRequest { URLRequest(url: URL(filePath: "/").atHost) }

        @Test func `bytes in memory, of a file and of a stream are uploaded, with no header of the client`()
            async throws
        {
            let server = try await MockServer.start { _ in MockServer.Response() }
            let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).txt")
            try Data("file".utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            var request = URLRequest(url: server.url)
            request.httpMethod = "PUT"
            request.httpBody = Data("replaced".utf8)
            request.setValue("8", forHTTPHeaderField: "Content-Length")
            _ = try await session.upload(for: request, fromFile: file)
            request.setValue(nil, forHTTPHeaderField: "Content-Length")
            _ = try await session.upload(for: request, from: Data("data".utf8))
            request.httpBodyStream = InputStream(data: Data("stream".utf8))
            _ = try await session.data(for: request)
            #expect(server.requests.map(\.body) == ["file", "data", "stream"].map { Data($0.utf8) })
            #expect(server.requests.allSatisfy { !$0.headers.contains(.contentType) })
            let missing = (request, file.appending(path: "missing"))
            #expect(try await code { _ = try await session.upload(for: missing.0, fromFile: missing.1) } == .badURL)
            #expect(server.requests.count == 3)
            await server.stop()
        }

        @Test(arguments: [200, 404, 304]) func `a download is a file, with any status`(status: Int) async throws {
            let server = try await MockServer.start { _ in .text("text", status: HTTPStatus(status)) }
            let (file, response) = try await session.download(from: server.url)
            #expect((response as? HTTPURLResponse)?.statusCode == status)
            #expect(try Data(contentsOf: file) == Data((status == 304 ? "" : "text").utf8))
            try FileManager.default.removeItem(at: file)
            await server.stop()
        }

        @Test func `the client retries, and the last response is the result with its whole body`() async throws {
            let server = try await MockServer.start()
            let page = Data(repeating: 0x61, count: 3 << 20)
            server.enqueue(.response(.init(status: 503)))
            server.enqueue(.response(.init(status: 503, body: page)), times: 3)
            let client = HTTPClient(retrying: Backoff(.exponential(base: .zero), maximumRetries: 1))
            let (data, response) = try await URLSession(client).data(from: server.url)
            #expect(data == page && (response as? HTTPURLResponse)?.statusCode == 503)
            #expect(server.requests.count == 2)
            let (bytes, _) = try await session.bytes(from: server.url)
            #expect(try await bytes.reduce(0) { count, _ in count + 1 } == page.count)
            await server.stop()
        }
    }

    extension URL {
        fileprivate var atHost: URL { URL(string: "https://a.test") ?? self }
    }

    @Suite struct DataTaskTests {
        private let session = URLSession(HTTPClient(transport: MockLoader { .ok($0, body: Data("x".utf8)) }))
        private let request = URLRequest(url: URL(filePath: "/").atHost)

        @Test func `a task starts with resume, and calls its handler once`() async throws {
            let result = await withCheckedContinuation { continuation in
                let task = session.dataTask(with: request) { continuation.resume(returning: ($0, $1, $2)) }
                task.resume()
                task.resume()
            }
            #expect(result.0 == Data("x".utf8) && result.1 is HTTPURLResponse && result.2 == nil)
        }

        @Test func `a task that is cancelled before it starts calls its handler with cancelled`() async {
            let error = await withCheckedContinuation { continuation in
                let task = session.uploadTask(with: request, from: Data()) { continuation.resume(returning: $2) }
                task.cancel()
                task.resume()
            }
            #expect((error as? URLError)?.code == .cancelled)
        }

        @Test func `the file of a download exists until the handler returns`() async throws {
            let file = await withCheckedContinuation { continuation in
                session.downloadTask(with: request) { file, _, _ in
                    let text = file.flatMap { try? Data(contentsOf: $0) }
                    continuation.resume(returning: text == Data("x".utf8) ? file : nil)
                }.resume()
            }
            #expect(file != nil)
        }
    }
#endif

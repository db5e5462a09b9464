// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    @testable import Letterhead
    import TestKit
    import Synchronization
    import Testing

    /// Tests against nginx, with its own files and port, because the servers of the tests do not support HTTP/2.
    @Suite(
        .timeLimit(.minutes(3)),
        .enabled("HTTP/2 is not tested: nginx is not installed, or cannot speak it") { await Nginx.isThere() })
    struct HTTP2Tests {
        private let trusting = TransportConfiguration.trusting

        @Test func `HTTP/2 is used over TLS if the server offers it, with one connection for all requests`()
            async throws
        {
            let nginx = try await Nginx(trusting)
            let loader = CurlLoader(trusting)
            let first = try await loader.load(HTTPRequest(url: nginx.url("/large")))
            #expect(first.metrics.httpVersion == "HTTP/2" && first.metrics.isReusedConnection == false)
            #expect(try await first.body.data() == nginx.large)
            try await withThrowingTaskGroup(of: String?.self) { group in
                for number in 0..<40 {
                    group.addTask {
                        var request = HTTPRequest(url: nginx.url(number % 2 == 0 ? "/large" : "/item"))
                        request.responseDelivery = number % 3 == 0 ? .streamed : .buffered
                        let response = try await loader.load(request)
                        #expect(try await response.body.data() == (number % 2 == 0 ? nginx.large : Data("item".utf8)))
                        return response.metrics.isReusedConnection ? response.metrics.remoteAddress : nil
                    }
                }
                for try await address in group { #expect(address != nil) }
            }
        }

        @Test func `256 concurrent requests share one connection if the server allows so many streams`() async throws {
            let nginx = try await Nginx(trusting)
            let loader = CurlLoader(trusting)
            let serials = try await withThrowingTaskGroup(of: Data.self) { group in
                for _ in 0..<256 {
                    group.addTask { try await loader.load(HTTPRequest(url: nginx.url("/connection"))).body.data() }
                }
                return try await group.reduce(into: Set<Data>()) { $0.insert($1) }
            }
            #expect(serials.count == 1)
        }

        @Test func `bodies of known and of unknown length are sent over HTTP/2`() async throws {
            let nginx = try await Nginx(trusting)
            let loader = CurlLoader(trusting)
            let pieces = nginx.large.chunked(10_000)
            let bodies: [any HTTPBody] = [DataBody(Data("x".utf8)), DataBody(nginx.large), Pieces(pieces)]
            for body in bodies {
                let request = HTTPRequest(method: .post, url: nginx.url("/read")).with { $0.body = body }
                let response = try await loader.load(request)
                #expect(response.status == 200 && response.metrics.httpVersion == "HTTP/2")
                #expect(response.metrics.bytesSent > (body.contentLength ?? nginx.large.count))
            }
        }

        @Test func `a response that does not wait for the request body is returned over HTTP/2, too`() async throws {
            let nginx = try await Nginx(trusting)
            let loader = CurlLoader(trusting)
            let bodies: [any HTTPBody] = [DataBody(nginx.large), Pieces(nginx.large.chunked(10_000))]
            for (body, path) in zip(bodies + bodies, ["/item", "/item", "/none", "/none"]) {
                let request = HTTPRequest(method: .post, url: nginx.url(path)).with { $0.body = body }
                let response = try await loader.load(request)
                #expect(try await response.body.data() == Data((path == "/item" ? "item" : "").utf8))
                #expect(response.metrics.httpVersion == "HTTP/2")
            }
        }

        @Test func `without TLS, HTTP/2 with prior knowledge uses one connection if libcurl can`() async throws {
            let isReused = CurlQuirks.reusesHTTP2WithoutTLS
            let nginx = try await Nginx(trusting)
            let loader = CurlLoader(TransportConfiguration().with { $0.httpVersions = .http2PriorKnowledge })
            _ = try await loader.load(HTTPRequest(url: nginx.plainURL("/item")))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<24 {
                    group.addTask {
                        let request = HTTPRequest(url: nginx.plainURL("/id/\(number)"))
                        let response = try await loader.load(request)
                        #expect(try await response.body.data() == Data("/id/\(number)".utf8))
                        #expect(response.metrics.httpVersion == "HTTP/2")
                        #expect(response.metrics.isReusedConnection == isReused)
                    }
                }
                try await group.waitForAll()
            }
            var request = HTTPRequest(method: .post, url: nginx.plainURL("/read"))
            request.body = Pieces(nginx.large.chunked(10_000))
            #expect(try await loader.load(request).metrics.bytesSent > nginx.large.count)
        }

        @Test func `a reset ends streams over HTTP/2, and the next request opens a new connection`() async throws {
            let nginx = try await Nginx(trusting)
            let loader = CurlLoader(trusting)
            let request = HTTPRequest(url: nginx.url("/large")).with { $0.responseDelivery = .streamed }
            let response = try await loader.load(request)
            await loader.reset()
            await #expect(throws: HTTPError.self) { try await response.body.data() }
            let next = try await loader.load(HTTPRequest(url: nginx.url("/item")))
            #expect(next.metrics.isReusedConnection == false && next.metrics.httpVersion == "HTTP/2")
        }

        @Test(
            .enabled(
                "this libcurl does not report which streams were refused",
                { CurlQuirks.explainsRepetitions || CurlQuirks.logsStreams }),
            arguments: [200, 32])
        func `each POST is processed once if the server ends each connection after 100 requests`(atOnce: Int)
            async throws
        {
            let nginx = try await Nginx(trusting)
            let loader = CurlLoader(trusting)
            let failures = await withTaskGroup(of: [String].self) { group in
                for first in 0..<atOnce {
                    group.addTask {
                        var failures: [String] = []
                        for number in stride(from: first, to: 3200, by: atOnce) {
                            var request = HTTPRequest(method: .post, url: nginx.endingURL("/\(number)"))
                            request.body = DataBody(Data("body".utf8))
                            do { #expect(try await loader.load(request).status == 200) } catch {
                                failures.append(String(describing: error))
                            }
                        }
                        return failures
                    }
                }
                return await group.reduce(into: []) { $0 += $1 }
            }
            #expect(failures.isEmpty, "\(failures.count): \(failures.prefix(3))")
            // nginx writes a line when it has sent the response.
            var counts = try nginx.processed()
            while counts.count < 3200 - failures.count { counts = try nginx.processed() }
            #expect(counts.count == 3200 && counts.values.allSatisfy { $0 == 1 })
        }
    }

    /// A process of nginx's. It ends with its owner, so it is a class.
    private final class Nginx: Sendable {
        static func isThere() async -> Bool {
            guard let path, let version = try? await ChildProcess.run(path, ["-V"]) else { return false }
            let text = String(decoding: version.output, as: UTF8.self)
            return text.contains("http_v2_module") && text.contains("http_ssl_module")
        }

        /// The environment variable names an nginx that is not installed (see Tests/Scripts/nginx.sh).
        private static let path = [
            ProcessInfo.processInfo.environment["LETTERHEAD_NGINX"] ?? "", "/usr/sbin/nginx", "/usr/local/sbin/nginx",
            "/usr/bin/nginx",
        ].first { FileManager.default.isExecutableFile(atPath: $0) }

        let large = Data((0..<4_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        private let directory: URL
        private let process: ChildProcess
        private let port: Int
        private let plainPort: Int
        private let endingPort: Int

        init(_ trusting: TransportConfiguration) async throws {
            directory = FileManager.default.temporaryDirectory.appending(path: "lh-\(UInt64.random(in: 0 ... .max))")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            try large.write(to: directory.appending(path: "large"))
            for (name, text) in [("certificate", Certificates.valid), ("key", Certificates.validKey)] {
                try Data(text.utf8).write(to: directory.appending(path: name))
            }
            let probe = CurlLoader(trusting)
            for _ in 0..<10 {
                // Another program may take the port before nginx does. Then another port is tried.
                let (port, plainPort, endingPort) = (RawServer.freePort(), RawServer.freePort(), RawServer.freePort())
                let text = Self.configuration(directory.path, port: port, plainPort: plainPort, endingPort: endingPort)
                try Data(text.utf8).write(to: directory.appending(path: "conf"))
                let process = try ChildProcess(
                    Self.path ?? "",
                    ["-e", directory.path + "/log", "-p", directory.path, "-c", directory.path + "/conf"])
                let request = HTTPRequest(url: Self.url(port, "/item")).with { $0.timeout = .seconds(5) }
                let isReady = try await process.isReady {
                    try await (try? probe.load(request))?.body.data() == Data("item".utf8)
                }
                guard isReady else { continue }
                (self.process, self.port, self.plainPort) = (process, port, plainPort)
                self.endingPort = endingPort
                return
            }
            let log = try? String(contentsOf: directory.appending(path: "log"), encoding: .utf8)
            throw ChildProcess.Failure(description: "nginx does not start: \(log ?? "")")
        }

        deinit { try? FileManager.default.removeItem(at: directory) }

        func url(_ path: String) -> URL { Self.url(port, path) }

        func plainURL(_ path: String) -> URL { Self.url(plainPort, path, scheme: "http") }

        /// A URL of the server that ends each connection after 100 requests.
        func endingURL(_ path: String) -> URL { Self.url(endingPort, path) }

        /// How often that server has processed each path.
        func processed() throws -> [Substring: Int] {
            let text = try String(contentsOf: directory.appending(path: "processed"), encoding: .utf8)
            return text.split(separator: "\n").reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }

        private static func url(_ port: Int, _ path: String, scheme: String = "https") -> URL {
            URL(string: "\(scheme)://127.0.0.1:\(port)\(path)") ?? URL(filePath: "/no-url")
        }

        private static func configuration(_ directory: String, port: Int, plainPort: Int, endingPort: Int) -> String {
            """
            daemon off; master_process off; pid \(directory)/pid; error_log \(directory)/log;
            events { worker_connections 2048; }
            http {
                log_format path "$request_uri"; ssl_certificate \(directory)/certificate; ssl_certificate_key \(directory)/key;
                access_log off; default_type text/plain; client_max_body_size 0; http2_max_concurrent_streams 512;
                client_body_temp_path \(directory)/body; proxy_temp_path \(directory)/proxy;
                fastcgi_temp_path \(directory)/fastcgi; uwsgi_temp_path \(directory)/uwsgi;
                scgi_temp_path \(directory)/scgi;
                server {
                    listen 127.0.0.1:\(port) ssl http2;
                    listen 127.0.0.1:\(plainPort) http2;
                    location = /item { return 200 "item"; }
                    location = /connection { return 200 "$connection"; }
                    location /id/ { return 200 "$request_uri"; }
                    location = /none { return 204; }
                    location = /read { proxy_pass http://unix:\(directory)/socket:/; }
                    location = /large { root \(directory); }
                }
                server {
                    listen 127.0.0.1:\(endingPort) ssl http2; keepalive_requests 100;
                    access_log \(directory)/processed path;
                    location / { proxy_pass http://unix:\(directory)/socket:/; }
                }
                server { listen unix:\(directory)/socket; return 200 "read"; }
            }
            """
        }
    }

    /// A body of unknown length.
    private struct Pieces: HTTPBody {
        let pieces: [Data]
        var contentLength: Int? { nil }

        init(_ pieces: [Data]) { self.pieces = pieces }

        func chunks() -> BodyChunks {
            let left = Mutex(pieces[...])
            return BodyChunks { left.withLock { $0.popFirst() } }
        }
    }

    extension Data {
        fileprivate func chunked(_ size: Int) -> [Data] {
            stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
        }
    }
#endif

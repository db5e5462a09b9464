// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Letterhead
    import LetterheadTransfers
    import Synchronization
    import TestKit
    import Testing

    /// A server of tus that others have written, behind nginx and a proxy that cuts its connections. See
    /// Tests/Scripts/tus.sh and Tests/Scripts/nginx.sh.
    @Suite(.serialized, .timeLimit(.minutes(6)), .enabled(if: TusServer.isInstalled, "a tus server is not installed"))
    struct TusServerTests {
        @Test(arguments: [false, true], [true, false])
        func `200 MB that are cut twenty times are right byte for byte`(isHTTP2: Bool, isOneCall: Bool) async throws {
            let size = 200_000_000
            let server = try await TusServer()
            let cuts = (0..<20).map { _ in Int.random(in: 1..<size) }.sorted()
            let lengths = zip([0] + cuts, cuts).map { max(1, $1 - $0) }
            // The first connection also has the requests before the content.
            let port = isHTTP2 ? server.securePort : server.port
            let number = Mutex(0)
            let proxy = RawServer { connection, _ in
                let index = number.withLock { number in
                    defer { number += 1 }
                    return number
                }
                connection.relay(toPort: port, input: index < lengths.count ? lengths[index] + 600 : nil)
                connection.close()
            }
            var configuration = TransportConfiguration()
            configuration.security.roots = .pem(Data(Certificates.authority.utf8))
            let client = HTTPClient(
                environment: ServerEnvironment("\(isHTTP2 ? "https" : "http")://127.0.0.1:\(proxy.port)"),
                transport: HTTPClient.makeTransport(configuration))
            let box = try Outbox(Data.blocks(size))
            let start = ContinuousClock.now
            let sent = Mutex(0)
            var (response, calls): (HTTPResponse?, Int) = (nil, 0)
            while response == nil, calls <= 30 {
                calls += 1
                let template = Post<HTTPResponse>("files/").onProgress { progress in
                    sent.withLock { $0 = progress.completedBytes }
                }
                do {
                    response = try await client.upload(
                        template, from: FileBody(at: box.file), resuming: box.store,
                        continuing: Backoff(.delayed(.milliseconds(300)), maximumRetries: isOneCall ? 30 : 0))
                } catch {
                    // The server waits for the lock of a request that has ended, and serves no other request meanwhile.
                    _ = try await server.isReady()
                }
            }
            #expect(response?.upload?.restart == nil && response?.status.isSuccess == true, "cuts: \(cuts)")
            #expect(response?.metrics.httpVersion == (isHTTP2 ? "HTTP/2" : "HTTP/1.1"))
            #expect(sent.withLock { $0 } == size && proxy.connectionCount >= 20)
            let copies = try server.files.map { try Data(contentsOf: $0, options: .alwaysMapped) }
            let original = try Data(contentsOf: box.file, options: .alwaysMapped)
            #expect(copies.contains(original), "cuts: \(cuts)")
            print(
                "\(isHTTP2 ? "HTTP/2" : "HTTP/1.1"): \(proxy.connectionCount) connections, \(calls) calls, "
                    + "\(ContinuousClock.now - start)")
            proxy.stop()
        }
    }

    /// Processes of a tus server and of nginx before it. A class, because it ends them.
    private final class TusServer: Sendable {
        private static let python = ProcessInfo.processInfo.environment["LETTERHEAD_TUS"] ?? ""
        private static let nginx = ProcessInfo.processInfo.environment["LETTERHEAD_NGINX"] ?? "/usr/sbin/nginx"
        static let isInstalled = [python, nginx].allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }

        let root = FileManager.default.temporaryDirectory.appending(path: "tus-\(UInt64.random(in: 0 ... .max))")
        let (port, securePort): (Int, Int)
        private let processes: [ChildProcess]

        init() async throws {
            try FileManager.default.createDirectory(
                at: root.appending(path: "files"), withIntermediateDirectories: true)
            let ports = (0..<3).map { _ in RawServer.freePort() }
            (port, securePort) = (ports[0], ports[1])
            for (name, text) in [
                ("certificate", Certificates.valid), ("key", Certificates.validKey),
                ("app.py", Self.program(root.path)), ("conf", Self.configuration(root.path, ports)),
            ] {
                try text.write(to: root.appending(path: name), atomically: true, encoding: .utf8)
            }
            processes = [
                try ChildProcess(
                    Self.python,
                    [
                        "-m", "uvicorn", "--app-dir", root.path, "--port", "\(ports[2])", "--log-level", "error",
                        "app:app",
                    ]),
                try ChildProcess(Self.nginx, ["-e", "\(root.path)/log", "-p", root.path, "-c", "\(root.path)/conf"]),
            ]
            guard try await isReady() else {
                throw ChildProcess.Failure(description: String(decoding: processes[0].output, as: UTF8.self))
            }
        }

        /// Whether it answers, after it has begun to.
        func isReady() async throws -> Bool {
            let probe = try HTTPRequest(method: .options, "http://127.0.0.1:\(port)/files/")
            return try await processes[0].isReady {
                (try? await HTTPClient.defaultTransport.load(probe))?.status.isSuccess == true
            }
        }

        deinit { try? FileManager.default.removeItem(at: root) }

        var files: [URL] {
            get throws {
                try FileManager.default.contentsOfDirectory(
                    at: root.appending(path: "files"), includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
            }
        }

        private static func program(_ root: String) -> String {
            """
            from fastapi import FastAPI
            from tuspyserver import create_tus_router
            app = FastAPI()
            app.include_router(create_tus_router(prefix="files", files_dir="\(root)/files", max_size=1 << 40))
            """
        }

        private static func configuration(_ folder: String, _ ports: [Int]) -> String {
            """
            daemon off; master_process off; pid \(folder)/pid; error_log \(folder)/log;
            events { worker_connections 64; }
            http {
                access_log off; client_max_body_size 0;
                client_body_temp_path \(folder)/body; proxy_temp_path \(folder)/proxy;
                fastcgi_temp_path \(folder)/fastcgi; uwsgi_temp_path \(folder)/uwsgi; scgi_temp_path \(folder)/scgi;
                server {
                    listen 127.0.0.1:\(ports[0]); listen 127.0.0.1:\(ports[1]) ssl http2;
                    ssl_certificate \(folder)/certificate; ssl_certificate_key \(folder)/key;
                    location / {
                        proxy_pass http://127.0.0.1:\(ports[2]); proxy_http_version 1.1; proxy_request_buffering off;
                        proxy_set_header Host $http_host; proxy_set_header X-Forwarded-Proto $scheme;
                    }
                }
            }
            """
        }
    }
#endif

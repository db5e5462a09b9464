// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Letterhead
    import LetterheadTransfers
    import TestKit
    import Synchronization
    import Testing

    /// A server that others have written, behind a proxy that cuts its connections. See Tests/Scripts/nginx.sh.
    @Suite(.serialized, .timeLimit(.minutes(3)), .enabled(if: Nginx.path != nil, "nginx is not installed"))
    struct NginxTests {
        @Test(arguments: [false, true], [true, false])
        func `200 MB that are cut twenty times are right byte for byte, and are received once`(
            isHTTP2: Bool, isOneCall: Bool
        ) async throws {
            let nginx = try await Nginx(size: 200_000_000)
            let cuts = (0..<20).map { _ in Int.random(in: 1..<nginx.size) }.sorted()
            let lengths = zip([0] + cuts, cuts).map { max(1, $1 - $0) }
            let port = isHTTP2 ? nginx.securePort : nginx.port
            let received = Mutex(0)
            let proxy = RawServer { connection, number in
                let limit = number < lengths.count ? lengths[number] : nil
                let count = connection.relay(toPort: port, bytes: limit)
                received.withLock { $0 += count }
                connection.close()
            }
            var configuration = TransportConfiguration()
            configuration.security.roots = .pem(Data(Certificates.authority.utf8))
            let client = HTTPClient(
                environment: ServerEnvironment("\(isHTTP2 ? "https" : "http")://127.0.0.1:\(proxy.port)"),
                transport: HTTPClient.makeTransport(configuration))
            let file = nginx.folder.appending(path: "copy")
            var response: HTTPResponse?
            for _ in 0...lengths.count where response == nil {
                response = try? await client.download(
                    Get<HTTPResponse>("large"), to: file, resuming: .fromPart,
                    continuing: .immediately(isOneCall ? 20 : 0))
            }
            #expect(response?.metrics.httpVersion == (isHTTP2 ? "HTTP/2" : "HTTP/1.1"), "cuts: \(cuts)")
            #expect(response?.savedByteCount == nginx.size && proxy.connectionCount == lengths.count + 1)
            let (copy, original) = try (
                Data(contentsOf: file, options: .alwaysMapped), Data(contentsOf: nginx.file, options: .alwaysMapped)
            )
            #expect(copy == original, "cuts: \(cuts)")
            // At each cut, at most one piece is lost. TLS and the frames of HTTP/2 need less than half a percent.
            await client.reset()
            #expect(received.withLock { $0 } < nginx.size + nginx.size / 200 + cuts.count << 18, "cuts: \(cuts)")
            proxy.stop()
        }
    }

    /// A process of nginx with one large file. It is a class because it ends the process.
    private final class Nginx: Sendable {
        static let path = [
            ProcessInfo.processInfo.environment["LETTERHEAD_NGINX"] ?? "", "/usr/sbin/nginx", "/usr/local/sbin/nginx",
            "/usr/bin/nginx",
        ].first { FileManager.default.isExecutableFile(atPath: $0) }

        let size: Int
        let folder = FileManager.default.temporaryDirectory.appending(path: "nginx-\(UInt64.random(in: 0 ... .max))")
        let (port, securePort): (Int, Int)
        private let process: ChildProcess

        var file: URL { folder.appending(path: "large") }

        init(size: Int) async throws {
            self.size = size
            let files = FileManager.default
            try files.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data.blocks(size).write(to: folder.appending(path: "large"))
            for (name, text) in [("certificate", Certificates.valid), ("key", Certificates.validKey)] {
                try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
            }
            for _ in 0..<10 {
                // Another program may take a port before nginx does. Then other ports are tried.
                let (port, securePort) = (RawServer.freePort(), RawServer.freePort())
                try Self.configuration(folder.path, port, securePort).write(
                    to: folder.appending(path: "conf"), atomically: true, encoding: .utf8)
                let process = try ChildProcess(
                    Self.path ?? "", ["-e", "\(folder.path)/log", "-p", folder.path, "-c", "\(folder.path)/conf"])
                let probe = try HTTPRequest("http://127.0.0.1:\(port)/ready")
                let isReady = try await process.isReady {
                    (try? await HTTPClient.defaultTransport.load(probe))?.status == .noContent
                }
                guard isReady else { continue }
                (self.port, self.securePort, self.process) = (port, securePort, process)
                return
            }
            throw CocoaError(.executableLoad)
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        private static func configuration(_ folder: String, _ port: Int, _ securePort: Int) -> String {
            """
            daemon off; master_process off; pid \(folder)/pid; error_log \(folder)/log;
            events { worker_connections 64; }
            http {
                access_log off; default_type application/octet-stream;
                client_body_temp_path \(folder)/body; proxy_temp_path \(folder)/proxy;
                fastcgi_temp_path \(folder)/fastcgi; uwsgi_temp_path \(folder)/uwsgi; scgi_temp_path \(folder)/scgi;
                server {
                    listen 127.0.0.1:\(port); listen 127.0.0.1:\(securePort) ssl http2;
                    ssl_certificate \(folder)/certificate; ssl_certificate_key \(folder)/key;
                    location = /ready { return 204; }
                    location = /large { root \(folder); }
                }
            }
            """
        }
    }
#endif

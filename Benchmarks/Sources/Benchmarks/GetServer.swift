// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Letterhead
    import TestKit

    /// A server that responds to every GET with 200 bytes of JSON: nginx with its own files in a separate process if
    /// it is installed, otherwise the tests' server, which needs more of the processor time that the measured programs share.
    final class GetServer: Sendable {
        let url: URL
        /// The same over TLS and HTTP/1.1, or nil without nginx.
        let secureURL: URL?
        /// The same over TLS and HTTP/2, or nil without nginx.
        let secondURL: URL?
        let name: String
        private let directory: URL
        private let nginx: Int32?

        static let json = #"{"id":4711,"name":"A name","tags":["one","two","three"],"note":"\#(padding)"}"#
        private static let padding = String(repeating: "x", count: 131)

        init() async throws {
            directory = FileManager.default.temporaryDirectory.appendingPathComponent("letterhead-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            if let (url, process) = try await Self.startNginx(in: directory) {
                (self.url, nginx, name) = (url, process, "nginx")
                secureURL = URL(string: "https://127.0.0.1:\((url.port ?? 0) + 1)/item")
                secondURL = URL(string: "https://127.0.0.1:\((url.port ?? 0) + 2)/item")
            } else {
                let json = Self.json
                let fields = "Content-Type: application/json\r\nContent-Length: \(json.utf8.count)\r\n"
                url = RawServer.answering("HTTP/1.1 200 OK\r\n\(fields)\r\n\(json)").url("/item")
                (nginx, secureURL, secondURL) = (nil, nil, nil)
                name = "a server in this process, since nginx is not installed"
            }
        }

        /// A server in this process that waits before it responds: each connection has a thread.
        static func delaying(microseconds: Int) -> RawServer {
            let fields = "Content-Type: application/json\r\nContent-Length: \(json.utf8.count)\r\n"
            let response = Array("HTTP/1.1 200 OK\r\n\(fields)\r\n\(json)".utf8)
            return RawServer { connection, _ in
                while connection.readHead() != nil {
                    var time = timespec(tv_sec: 0, tv_nsec: microseconds * 1000)
                    if microseconds > 0 { nanosleep(&time, nil) }
                    guard connection.write(response) else { return }
                }
            }
        }

        /// The certificate authority of ``secureURL``.
        var roots: URL { directory.appendingPathComponent("roots") }

        func stop() {
            if let nginx { kill(nginx, SIGTERM) }
            try? FileManager.default.removeItem(at: directory)
        }

        /// Its address and its process, once it answers, or nil when it is not there.
        private static func startNginx(in directory: URL) async throws -> (URL, Int32)? {
            let named = ProcessInfo.processInfo.environment["LETTERHEAD_NGINX"] ?? ""
            let paths = [named, "/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx", "/usr/local/bin/nginx"]
            let files = FileManager.default
            guard let path = paths.first(where: { files.isExecutableFile(atPath: $0) }) else { return nil }
            // Another program may take the port before nginx does.
            for _ in 0..<5 {
                guard let url = URL(string: "http://127.0.0.1:\(RawServer.freePort())/item") else { return nil }
                let file = directory.appendingPathComponent("nginx.conf")
                try configuration(directory, port: url.port ?? 0).write(to: file, atomically: true, encoding: .utf8)
                for (name, text) in [
                    ("roots", Certificates.authority), ("certificate", Certificates.valid),
                    ("key", Certificates.validKey),
                ] {
                    try text.write(to: directory.appendingPathComponent(name), atomically: true, encoding: .utf8)
                }
                let process = Process()
                process.executableURL = URL(fileURLWithPath: path)
                process.arguments = ["-e", "\(directory.path)/error.log", "-p", directory.path, "-c", file.path]
                process.standardError = FileHandle.nullDevice
                try process.run()
                while process.isRunning {
                    let response = try? await HTTPClient.defaultTransport.load(HTTPRequest(url: url))
                    if response?.headers["Server"] != nil { return (url, process.processIdentifier) }
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            return nil
        }

        private static func configuration(_ directory: URL, port: Int) -> String {
            """
            daemon off; worker_processes 1; pid \(directory.path)/nginx.pid; error_log \(directory.path)/error.log;
            events { worker_connections 16384; }
            http {
                access_log off; keepalive_timeout 1h; keepalive_requests 1000000000; tcp_nodelay on;
                client_body_temp_path \(directory.path)/body; proxy_temp_path \(directory.path)/proxy;
                fastcgi_temp_path \(directory.path)/fastcgi; uwsgi_temp_path \(directory.path)/uwsgi;
                scgi_temp_path \(directory.path)/scgi;
                server {
                    listen 127.0.0.1:\(port) backlog=4096; listen 127.0.0.1:\(port + 1) ssl; listen 127.0.0.1:\(port + 2) ssl http2;
                    http2_max_concurrent_streams 1000;
                    ssl_certificate \(directory.path)/certificate; ssl_certificate_key \(directory.path)/key;
                    location = /item { default_type application/json; return 200 '\(json)'; }
                }
            }
            """
        }
    }
#endif

// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Letterhead
    import TestKit

    /// An nginx in front of the servers of all cases, which speaks HTTP/2 over TLS. It has one port for each site, and
    /// the first segment of a path is the port of the case's server.
    struct Nginx: Sendable {
        /// The environment variable names the program (see Tests/Scripts/nginx.sh). Without it, the value is nil.
        static let shared = ProcessInfo.processInfo.environment["LETTERHEAD_NGINX"].flatMap { try? Nginx($0) }

        let ports: [Site: Int]
        /// nginx ends with this pipe, however this program ends.
        private let end = Pipe()

        private init(_ path: String) throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "joints-nginx-\(getpid())").path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for (name, text) in [("certificate", Certificates.valid), ("key", Certificates.validKey)] {
                try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(name)"))
            }
            let servers = Site.allCases.map { _ in RawServer { connection, _ in connection.close() } }
            ports = Dictionary(uniqueKeysWithValues: zip(Site.allCases, servers.map(\.port)))
            for server in servers { server.stop() }
            try Data(Self.configuration(folder, ports).utf8).write(to: URL(filePath: "\(folder)/conf"))
            let process = Process()
            process.executableURL = URL(filePath: "/bin/sh")
            let command = "\"$0\" -e \"$1/log\" -p \"$1\" -c \"$1/conf\" & cat >\"$1/cat\"; kill $!; wait; rm -r \"$1\""
            process.arguments = ["-c", command, path, folder]
            process.standardInput = end
            try process.run()
        }

        /// Waits until nginx answers.
        func start() async {
            let client = HTTPClient(transport: HTTPClient.makeTransport(.trustingTests))
            for _ in 0..<500 {
                let request = HTTPRequest(
                    url: URL(string: "https://127.0.0.1:\(ports[.api] ?? 0)/") ?? URL(filePath: "/"))
                if (try? await client.send(request)) != nil { return }
                try? await Task.sleep(for: .milliseconds(20))
            }
        }

        private static func configuration(_ folder: String, _ ports: [Site: Int]) -> String {
            let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
                .map { "\($0)_temp_path \(folder)/\($0);" }.joined(separator: " ")
            let servers = ports.map { site, port in
                """
                server {
                    listen 127.0.0.1:\(port) ssl http2;
                    location / { return 204; }
                    location ~ ^/(?<server>[0-9]+)/ {
                        proxy_pass http://127.0.0.1:$server$request_uri;
                        proxy_set_header Host $http_host;
                        proxy_set_header X-Site \(site);
                    }
                }
                """
            }
            return """
                daemon off; master_process off; pid \(folder)/pid; error_log \(folder)/log;
                events { worker_connections 2048; }
                http {
                    access_log off; client_max_body_size 0; \(temporary)
                    ssl_certificate \(folder)/certificate; ssl_certificate_key \(folder)/key;
                    proxy_http_version 1.1; proxy_buffering off; proxy_next_upstream off; proxy_redirect off;
                    \(servers.joined(separator: "\n"))
                }
                """
        }
    }

    extension TransportConfiguration {
        static var trustingTests: Self {
            var configuration = TransportConfiguration()
            configuration.security.roots = .pem(Data(Certificates.authority.utf8))
            return configuration
        }
    }
#endif

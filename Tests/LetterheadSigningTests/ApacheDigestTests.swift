// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Letterhead
    @testable import LetterheadSigning
    import LetterheadTesting
    import TestKit
    import Testing

    /// Digest authentication against Apache, which checks what the servers of the tests cannot: the proofs themselves.
    @Suite(
        .timeLimit(.minutes(3)),
        .enabled("there is no Apache with digest authentication; see Tests/Scripts/apache.sh") { Apache.path != nil })
    struct ApacheDigestTests {
        private func client(_ apache: Apache, _ user: String, _ password: Secret = "pass:word \u{E9}") -> HTTPClient {
            HTTPClient(
                environment: ServerEnvironment(baseURL: apache.url),
                authentication: .digest(user: user, password: password))
        }

        @Test(arguments: ["ada", #"us"er\x"#, "J\u{E4}s\u{F8}n"])
        func `Apache accepts the proofs of any user, for any URL`(user: String) async throws {
            let apache = try await Apache()
            let client = client(apache, user)
            for path in ["secret/a.txt", "secret/\("\u{E9} b?%")", "moved"] as [RequestPath] {
                let response = try await client.send(
                    Get<HTTPResponse>(path).query("q", "\u{E9} &=").query("x", "").accepting([200, 404]))
                #expect(response.status == (response.request.path == "/secret/a.txt" ? 200 : 404))
            }
        }

        @Test func `Apache accepts concurrent requests with a nonce, and the nonces that it announces`() async throws {
            let apache = try await Apache()
            let client = client(apache, "ada")
            let start = ContinuousClock.now
            var signed = 0
            // Longer than the lifetime of a nonce.
            while ContinuousClock.now - start < .milliseconds(2500) {
                try await withThrowingTaskGroup(of: String.self) { group in
                    for _ in 0..<10 { group.addTask { try await client.send(Get<String>("secret/a.txt")) } }
                    for try await text in group { #expect(text == "secret") }
                }
                signed += 10
            }
            #expect(signed > 10)
        }

        @Test func `Apache refuses a wrong password once`() async throws {
            let apache = try await Apache()
            let client = client(apache, "ada", "wrong")
            #expect(try await client.send(Get<HTTPResponse>("secret/a.txt").accepting([401])).status == 401)
        }
    }

    /// A process of Apache's. It ends with its owner, so it is a class.
    private final class Apache: Sendable {
        /// The program of Tests/Scripts/apache.sh.
        static let path = ProcessInfo.processInfo.environment["LETTERHEAD_APACHE"].flatMap { path in
            FileManager.default.isExecutableFile(atPath: path) ? path : nil
        }

        let url: URL
        private let directory: URL
        private let process: ChildProcess

        init() async throws {
            directory = FileManager.default.temporaryDirectory.appending(path: "lh-\(UInt64.random(in: 0 ... .max))")
            let secret = directory.appending(path: "www/secret")
            try FileManager.default.createDirectory(at: secret, withIntermediateDirectories: true)
            try Data("secret".utf8).write(to: secret.appending(path: "a.txt"))
            let realm = #"letter "head" realm"#
            let users = ["ada", #"us"er\x"#, "J\u{E4}s\u{F8}n"].map { user in
                let key = MD5Hash.hash(Array("\(user):\(realm):pass:word \u{E9}".utf8))
                return "\(user):\(realm):" + key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "\n"
            }
            try Data(users.joined().utf8).write(to: directory.appending(path: "users"))
            for _ in 0..<10 {
                // Another program may take the port before Apache does. Then another port is tried.
                let listener = RawServer { connection, _ in connection.close() }
                listener.stop()
                try Data(Self.configuration(directory.path, port: listener.port).utf8).write(
                    to: directory.appending(path: "conf"))
                let process = try ChildProcess(Self.path ?? "", ["-X", "-f", directory.path + "/conf"])
                let url = try #require(URL(string: "http://127.0.0.1:\(listener.port)"))
                var request = HTTPRequest(url: url.appending(path: "secret/a.txt"))
                request.timeout = .seconds(5)
                let probe = request
                let isReady = try await process.isReady {
                    (try? await HTTPClient.defaultTransport.load(probe))?.status == 401
                }
                guard isReady else { continue }
                (self.process, self.url) = (process, url)
                return
            }
            let log = try? String(contentsOf: directory.appending(path: "log"), encoding: .utf8)
            throw ChildProcess.Failure(description: "Apache does not start: \(log ?? "")")
        }

        deinit { try? FileManager.default.removeItem(at: directory) }

        private static func configuration(_ directory: String, port: Int) -> String {
            let modules = ["mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_digest", "alias"]
            return """
                ServerRoot "\(directory)"
                Listen 127.0.0.1:\(port)
                ServerName localhost
                User nobody
                Group nogroup
                PidFile "\(directory)/pid"
                ErrorLog "\(directory)/log"
                Mutex file:\(directory) default
                \(modules.map { "LoadModule \($0)_module ${MODULES}/mod_\($0).so" }.joined(separator: "\n"))
                DocumentRoot "\(directory)/www"
                AllowEncodedSlashes NoDecode
                RedirectMatch 302 ^/moved$ /secret/a.txt
                <Location "/secret">
                    AuthType Digest
                    AuthName "letter \\"head\\" realm"
                    AuthDigestProvider file
                    AuthUserFile "\(directory)/users"
                    AuthDigestNonceLifetime 1
                    Require valid-user
                </Location>
                """
        }
    }
#endif

// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    @testable import Letterhead
    import LetterheadTesting
    import TestKit
    import Testing

    extension Trait where Self == ConditionTrait {
        /// Whether this machine lets a process have its own mounts, and thus its own root.
        fileprivate static var isolated: Self {
            .enabled("a process can have its own root") {
                (try? await ChildProcess.run("unshare", ["--mount", "true"]))?.status == 0
            }
        }
    }

    @Suite(.timeLimit(.minutes(3)))
    struct RootsOfTrustTests {
        private static let debian = "/etc/ssl/certs/ca-certificates.crt"

        private func roots(
            _ environment: [String: String] = [:], builtIn: CurlRoots.Place = (debian, "/etc/ssl/certs"),
            existing: Set<String>
        ) -> CurlRoots {
            CurlRoots(
                environment: environment, builtIn: builtIn, isFile: { existing.contains($0) },
                isFolder: { existing.contains($0) })
        }

        @Test(
            arguments: [
                (["SSL_CERT_FILE": "/a.pem"], "/a.pem", nil), (["SSL_CERT_DIR": "/b"], nil, "/b"),
                (["SSL_CERT_FILE": "/a.pem", "SSL_CERT_DIR": "/b"], "/a.pem", "/b"),
                (["SSL_CERT_FILE": "", "SSL_CERT_DIR": "/b"], nil, "/b"),
            ] as [([String: String], String?, String?)])
        func `the environment's variables replace every other place`(
            environment: [String: String], file: String?, folder: String?
        ) {
            let roots = roots(environment, existing: [Self.debian, "/etc/ssl/certs"])
            #expect(roots.place?.file == file && roots.place?.folder == folder)
        }

        @Test(
            arguments: [
                ([debian, "/etc/ssl/certs", "/etc/ssl/cert.pem"], debian, "/etc/ssl/certs"), ([debian], debian, nil),
                (["/etc/ssl/certs"], nil, "/etc/ssl/certs"), (["/etc/ssl/cert.pem"], "/etc/ssl/cert.pem", nil),
                (["/etc/pki/tls/certs", "/etc/ssl/ca-bundle.pem"], "/etc/ssl/ca-bundle.pem", nil),
                (["/etc/pki/tls/certs"], nil, "/etc/pki/tls/certs"),
            ] as [([String], String?, String?)])
        func `libcurl's place precedes the known places of distributions`(
            existing: [String], file: String?, folder: String?
        ) {
            let roots = roots(["SSL_CERT_FILE": ""], existing: Set(existing))
            #expect(roots.place?.file == file && roots.place?.folder == folder)
        }

        @Test func `a known place is found if libcurl does not report its own`() {
            #expect(roots(builtIn: (nil, nil), existing: [Self.debian]).place?.file == Self.debian)
        }

        @Test func `if nothing is found, each place is named once`() {
            let roots = roots(builtIn: ("/own.pem", "/etc/ssl/certs"), existing: [])
            #expect(roots.place == nil && roots.searched.hasPrefix("/own.pem, /etc/ssl/certs, \(Self.debian), "))
            #expect(roots.searched.components(separatedBy: "/etc/ssl/certs,").count == 2)
        }

        /// Sends a request from a process that sees only these files.
        private func result(files: [String: String], environment: [String: String] = [:]) async throws -> String {
            let server = try await MockServer.secure()
            let folder = FileManager.default.temporaryDirectory.appending(path: "root-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            try FileManager.default.createDirectory(
                at: folder.appending(path: "proc"), withIntermediateDirectories: true)
            for (path, text) in files {
                let file = folder.appending(path: path)
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(text.utf8).write(to: file)
            }
            let port = try #require(server.url.port)
            let variables = ["SSL_CERT_FILE": "", "SSL_CERT_DIR": ""].merging(environment) { $1 }
            // The runtime reads /proc while it runs.
            let script = #"mount --rbind /proc "$1/proc" && exec "$0" roots "$2" "$1""#
            let program = try ChildProcess.path(ofPackage: "transport-stress")
            let (status, bytes) = try await ChildProcess.run(
                "unshare", ["--mount", "sh", "-c", script, program, folder.path, String(port)], environment: variables)
            let output = String(decoding: bytes, as: UTF8.self)
            #expect(status == 0, "\(output)")
            return output
        }

        @Test(
            .isolated,
            arguments: [
                (path: "company/root.pem", environment: ["SSL_CERT_FILE": "/company/root.pem"]),
                ("company/HASH.0", ["SSL_CERT_DIR": "/company"]), ("etc/ssl/certs/ca-certificates.crt", [:]),
                ("etc/pki/tls/certs/ca-bundle.crt", [:]), ("etc/ssl/cert.pem", [:]), ("etc/ssl/certs/HASH.0", [:]),
            ])
        func `a company's own root is found in a minimal container`(
            path: String, environment: [String: String]
        ) async throws {
            let path = path.replacing("HASH", with: Certificates.authorityHash)
            let result = try await result(files: [path: Certificates.authority], environment: environment)
            #expect(result.hasPrefix("200"), "\(result)")
        }

        @Test(.isolated) func `without certificates, the error names each place and the setting`() async throws {
            let result = try await result(files: [:])
            #expect(result.hasPrefix("insecureConnection") && result.contains(Self.debian), "\(result)")
            #expect(result.contains("no trusted authorities were found in /etc/ssl/certs"), "\(result)")
            #expect(result.contains("/etc/pki/tls/certs") && result.contains("security.roots"), "\(result)")
        }

        @Test(.isolated) func `a variable that names no file is an error that names it`() async throws {
            let result = try await result(
                files: ["etc/ssl/certs/ca-certificates.crt": Certificates.authority],
                environment: ["SSL_CERT_FILE": "/absent.pem"])
            #expect(result.hasPrefix("insecureConnection") && result.contains("SSL_CERT_FILE=/absent.pem"), "\(result)")
        }

        @Test(.isolated) func `other authorities in a variable's file do not trust the server`() async throws {
            let result = try await result(
                files: ["other.pem": Certificates.selfSigned], environment: ["SSL_CERT_FILE": "/other.pem"])
            #expect(result.contains("certificate is not trusted") && result.contains("SSL_CERT_FILE=/other.pem"))
        }

        /// As root, a copy of the program gets the rights of another group.
        @Test(.enabled(if: geteuid() == 0), arguments: [false, true])
        func `a program with more rights than its caller trusts no variable of the caller`(
            isElevated: Bool
        ) async throws {
            let server = try await MockServer.secure()
            let folder = try TemporaryDirectory()
            let roots = try folder.file("roots.pem", Data(Certificates.authority.utf8))
            let keys = folder.url.appending(path: "keys")
            let copy = folder.url.appending(path: "copy")
            let program = try ChildProcess.path(ofPackage: "transport-stress")
            try FileManager.default.copyItem(atPath: program, toPath: copy.path)
            if isElevated { #expect(chown(copy.path, 0, 65534) == 0 && chmod(copy.path, 0o2755) == 0) }
            var variables = ["SSL_CERT_FILE": roots.path, "SSLKEYLOGFILE": keys.path]
            if isElevated { variables["https_proxy"] = "http://127.0.0.1:1" }
            let port = try #require(server.url.port)
            let (status, bytes) = try await ChildProcess.run(
                copy.path, ["roots", String(port), "/"], environment: variables)
            let output = String(decoding: bytes, as: UTF8.self)
            #expect(status == 0 && output.hasPrefix(isElevated ? "insecureConnection" : "200"), "\(output)")
            #expect(!output.contains(roots.path))
            if isElevated { #expect(!FileManager.default.fileExists(atPath: keys.path)) }
        }

        @Test func `an idle and an old connection are not used again`() async throws {
            let (status, output) = try await ChildProcess.run(ofPackage: "transport-stress", ["lifetimes"], seconds: 60)
            #expect(status == 0 && output.contains("idle 2, old 2, kept 1"), "\(output)")
        }
    }
#endif

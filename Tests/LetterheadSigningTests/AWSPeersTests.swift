// SPDX-License-Identifier: MIT
#if os(Linux) || os(macOS)
    import Foundation
    import Letterhead
    @testable import LetterheadSigning
    import TestKit
    import Testing

    /// Signatures for AWS beside botocore's, and requests to moto, which refuses every signature that botocore doesn't
    /// compute. `Tests/Scripts/aws.sh` installs them.
    @Suite(
        .timeLimit(.minutes(3)),
        .enabled("there are no botocore and moto; see Tests/Scripts/aws.sh") { Moto.python != nil })
    struct AWSPeersTests {
        private static let secret: Secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

        private struct Case: Decodable {
            var service, method, url, body, authorization, link: String
            var seconds: Double
            var headers: [[String]]
            var token: String?
        }

        private func signer(
            _ service: String = "s3", token: String? = nil, signsChunks: Bool = false,
            checksum: AWSSigner.Checksum? = nil, secret: Secret = AWSPeersTests.secret,
            now: @escaping @Sendable () -> Date = { Date() }
        ) -> AWSSigner {
            let credentials = AWSCredentials(
                accessKey: "AKIDEXAMPLE", secretKey: secret, sessionToken: token.map { Secret($0) })
            return AWSSigner(
                service: service, region: "eu-central-1", credentials: .fixed(credentials), signsChunks: signsChunks,
                checksum: checksum, now: now)
        }

        @Test func `headers and links are equal to botocore's`() async throws {
            let seed = UInt32.random(in: 0 ... .max)
            let output = try await ChildProcess.output(
                of: Moto.python ?? "", [Moto.script, "compare", "\(seed)", "400"])
            let cases = try JSONDecoder().decode([Case].self, from: output)
            var differences = 0
            for item in cases {
                let date = Date(timeIntervalSince1970: item.seconds)
                let signer = signer(item.service, token: item.token, now: { date })
                let request = try request(item)
                var signed = request
                let body = try await SignedBody(request, need: signer.bodyNeed(for: request))
                try await signer.sign(&signed, body: body)
                var linked = request
                linked.body = EmptyBody()
                let link = try await signer.presignedURL(for: linked, expiresIn: .seconds(600)).absoluteString
                guard signed.headers[.authorization] != item.authorization || link != item.link else { continue }
                differences += 1
                Issue.record("seed \(seed): \(item) instead of \(signed.headers[.authorization] ?? "") and \(link)")
            }
            print("AWS: \(cases.count) requests and links, \(differences) differences from botocore")
        }

        /// The URL's parts as they are, because the signature covers their escapes.
        private func request(_ item: Case) throws -> HTTPRequest {
            var request = try HTTPRequest(item.url)
            request.method = HTTPMethod(rawValue: item.method)
            let place = try #require(item.url.range(of: "//"))
            let target = item.url[place.upperBound...].drop { $0 != "/" }
            request.path = RequestPath(escaped: String(target.prefix { $0 != "?" }), route: nil)
            for field in item.headers { request.headers.append(HTTPHeaders.Name(field[0]), field[1]) }
            let data = try #require(Data(base64Encoded: item.body))
            if !data.isEmpty { request.body = DataBody(data, contentType: nil) }
            return request
        }

        @Test func `moto accepts uploads in every form, and returns their bytes`() async throws {
            let moto = try await Moto()
            let data = Data((0..<200_001).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            let stream = StreamBody(length: data.count) { [data] in
                AsyncStream<Data> { stream in
                    for start in stride(from: 0, to: data.count, by: 7_001) {
                        stream.yield(data[start..<min(start + 7_001, data.count)])
                    }
                    stream.finish()
                }
            }
            let file = FileManager.default.temporaryDirectory.appending(path: "letterhead-\(UUID())")
            try data.write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let bodies: [any HTTPBody] = [DataBody(data, contentType: nil), stream, FileBody(at: file)]
            let signers = [
                signer(), signer(signsChunks: true), signer(checksum: .crc32),
                signer(signsChunks: true, checksum: .crc32),
            ]
            for (number, signer) in signers.enumerated() {
                let bucket = HTTPClient(authentication: .signing(by: signer, allowedOrigins: [moto.url]))
                for (index, body) in bodies.enumerated() {
                    let url = moto.url.appending(path: "letters/\(number) \u{E9}/\(index)~(a)+&=.bin")
                    var upload = HTTPRequest(method: .put, url: url)
                    upload.body = body
                    upload.headers["X-Amz-Meta-A"] = "a   b"
                    #expect(try await bucket.send(upload).status == 200)
                    #expect(try await bucket.send(HTTPRequest(url: url)).body.data() == data)
                }
            }
            var list = HTTPRequest(url: moto.url.appending(path: "letters"))
            list.query = ["list-type": 2, "prefix": "1 \u{E9}/"]
            let reader = HTTPClient(authentication: .signing(by: signers[0], allowedOrigins: [moto.url]))
            let keys = String(decoding: try await reader.send(list).body.data(), as: UTF8.self)
            #expect(keys.components(separatedBy: "<Key>").count == 4)
        }

        @Test func `moto accepts links, and refuses what isn't signed or has another key`() async throws {
            let moto = try await Moto()
            let (anyone, object) = (HTTPClient(), moto.url.appending(path: "letters/ada.txt"))
            let signer = signer()
            func link(_ method: HTTPMethod, _ url: URL, _ query: QueryParameters = [:]) async throws -> URL {
                var request = HTTPRequest(method: method, url: url)
                request.query = query
                return try await signer.presignedURL(for: request, expiresIn: .seconds(600))
            }
            var upload = HTTPRequest(method: .put, url: try await link(.put, object))
            upload.body = TextBody("Dear Ada")
            try await anyone.send(upload)
            let list = HTTPRequest(
                url: try await link(.get, moto.url.appending(path: "letters"), ["list-type": 2, "max-keys": 10]))
            #expect(
                String(decoding: try await anyone.send(list).body.data(), as: UTF8.self)
                    .contains("<Key>ada.txt</Key>"))
            let text = try await anyone.send(HTTPRequest(url: try await link(.get, object))).body.data()
            #expect(String(decoding: text, as: UTF8.self) == "Dear Ada")
            let refused = await failure { try await anyone.send(HTTPRequest(url: object)) }
            #expect(refused?.response?.status == 403)
            let other = self.signer(secret: "other")
            let client = HTTPClient(authentication: .signing(by: other, allowedOrigins: [moto.url]))
            let forged = await failure { try await client.send(HTTPRequest(url: object)) }
            #expect(forged?.response?.status == 403)
        }
    }

    /// A process that ends with its owner, so it is a class.
    private final class Moto: Sendable {
        static let python = ProcessInfo.processInfo.environment["LETTERHEAD_AWS_PYTHON"]
        static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../Scripts/aws.py").standardizedFileURL.path

        let url: URL
        private let process: ChildProcess

        init() async throws {
            let process = try ChildProcess(Moto.python ?? "", [Moto.script, "serve"])
            let isReady = try await process.isReady { process.output.last == UInt8(ascii: "\n") }
            let line = String(decoding: process.output, as: UTF8.self)
            guard isReady, line.hasPrefix("port "), let port = Int(line.dropFirst(5).dropLast()) else {
                throw ChildProcess.Failure(description: line)
            }
            url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            self.process = process
        }
    }
#endif

// SPDX-License-Identifier: MIT
#if os(Linux) && DEBUG
    import Foundation
    @testable import Letterhead
    import TestKit

    /// Heads on kept connections that older versions of libcurl crash on, or that make them mix up responses.
    struct HostileHeads {
        let count: Int

        /// Every other response begins with a folded line.
        func folds() async throws {
            let server = RawServer { connection, _ in
                var number = 0
                while connection.readRequest() != nil {
                    number += 1
                    let line =
                        number.isMultiple(of: 2) ? " X-Two: \(String(repeating: "v", count: number % 97))\r\n" : ""
                    connection.write("HTTP/1.1 200 OK\r\n\(line)X-One: 1\r\nContent-Length: 2\r\n\r\nok")
                }
            }
            let loader = CurlLoader()
            var refused = 0
            for _ in 0..<count {
                do { _ = try await loader.load(HTTPRequest(url: server.url())) } catch {
                    expect(error.code == .invalidResponse, "\(error)")
                    refused += 1
                }
            }
            expect(refused == count / 2, "\(refused) of \(count) were refused")
            print("ok: \(refused) of \(count) responses began with a folded line and were refused")
        }

        /// Every other response claims to be HTTP/2, so that libcurl would send several requests at once on its
        /// connection.
        func claims() async throws {
            for tls in [nil, RawTLS()] {
                let server = RawServer(tls: tls) { connection, number in
                    var random = SeededGenerator(seed: UInt64(number))
                    while let request = connection.readRequest() {
                        let path = request.head.split(separator: " ")[1]
                        let version = random.chance(50) ? "HTTP/2.0" : "HTTP/1.1"
                        if random.chance(20) { usleep(200) }
                        connection.write("\(version) 200 OK\r\nContent-Length: \(path.utf8.count)\r\n\r\n\(path)")
                    }
                }
                var configuration = TransportConfiguration()
                configuration.security.roots = .pem(Data(Certificates.authority.utf8))
                let loader = CurlLoader(configuration)
                let answered = try await withThrowingTaskGroup(of: Int.self) { group in
                    for lane in 0..<16 {
                        group.addTask {
                            var answered = 0
                            for id in stride(from: lane, to: count, by: 16) {
                                guard let response = try? await loader.load(HTTPRequest(url: server.url("/\(id)")))
                                else {
                                    continue
                                }
                                let body = String(decoding: try await response.body.data(), as: UTF8.self)
                                expect(body == "/\(id)", "the request for /\(id) received the response for \(body)")
                                answered += 1
                            }
                            return answered
                        }
                    }
                    return try await group.reduce(0, +)
                }
                expect(answered > 0, "no request was answered")
                print("ok: \(answered) of \(count) requests received their own response, the others an error")
            }
        }
    }
#endif

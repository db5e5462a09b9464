// SPDX-License-Identifier: MIT
#if os(Linux) && DEBUG
    import Foundation
    @testable import Letterhead
    import TestKit

    /// Thousands of requests at a time all complete, each with its own answer, over no more connections than allowed.
    struct ManyAtOnce {
        let count: Int

        func run() async throws {
            let server = RawServer { connection, _ in
                while let request = connection.readRequest() {
                    let path = request.head.split(separator: " ")[1]
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(path.utf8.count)\r\n\r\n\(path)")
                }
            }
            let loader = CurlLoader()
            let (clock, limit) = (ContinuousClock(), TransportConfiguration().maximumConnectionsPerHost)
            let time = try await clock.measure {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<count {
                        group.addTask {
                            let response = try await loader.load(HTTPRequest(url: server.url("/\(number)")))
                            let body = try await response.body.data()
                            expect(body == Data("/\(number)".utf8), "the answer of another request")
                        }
                    }
                    try await group.waitForAll()
                }
            }
            expect(server.connectionCount <= limit, "\(server.connectionCount) connections")
            print("ok: \(count) requests over \(server.connectionCount) connections in \(time)")
        }
    }
#endif

// SPDX-License-Identifier: MIT
#if os(Linux) && DEBUG
    import Foundation
    @testable import Letterhead
    import TestKit
    import Synchronization

    /// Requests of a process with a proxy in its environment, which requires a separate process.
    struct EnvironmentProxy {
        let count: Int

        func run() async throws {
            let heads = Mutex<[String]>([])
            let proxy = RawServer { connection, _ in
                while let head = connection.readHead() {
                    heads.withLock { $0.append(head) }
                    connection.write("HTTP/1.1 204 No Content\r\n\r\n")
                }
            }
            setenv("http_proxy", "http://127.0.0.1:\(proxy.port)", 1)
            setenv("no_proxy", "127.0.0.1", 1)
            let loader = CurlLoader()
            for number in 0..<count {
                guard let url = URL(string: "http://nowhere-\(number % 2).example/a?\(number)") else { fail("no URL") }
                expect(try await loader.load(HTTPRequest(url: url)).status == 204, "\(url) was not answered")
                let line = "GET \(url) HTTP/1.1"
                expect(heads.withLock { $0.last?.hasPrefix(line) } == true, "the proxy did not get \(line)")
            }
            let server = RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            expect(try await loader.load(HTTPRequest(url: server.url())).status == 200, "no_proxy was not heeded")
            expect(heads.withLock { $0.count } == count, "the proxy got what was not for it")
            print("ok: \(count) requests by way of the environment's proxy")
        }
    }
#endif

// SPDX-License-Identifier: MIT
#if os(Linux) && DEBUG
    import Foundation
    @testable import Letterhead
    import TestKit

    /// Responses that do not fit into the memory that the process may have.
    struct MemoryLimits {
        /// How much more memory there is, in MiB.
        let count: Int

        func run() async throws {
            let size = 4 << 30
            let server = RawServer { connection, _ in
                while let head = connection.readHead() {
                    let length = head.hasPrefix("GET /large") ? size : 2
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n")
                    guard connection.writeZeros(length) else { return }
                }
            }
            let loader = CurlLoader()
            for _ in 0..<2 { try await checkSmall(server, loader) }
            limit(to: Self.addressSpace + count << 20)
            for delivery in [HTTPResponse.Delivery.buffered, .streamed] {
                var request = HTTPRequest(url: server.url("/large"))
                (request.responseDelivery, request.responseLimit) = (delivery, .max)
                do {
                    let body = try await loader.load(request).body.data(upTo: .max)
                    fail("\(body.count) bytes were received as a whole body")
                } catch let error as HTTPError {
                    expect(
                        error.code == .responseTooLarge && error.message.contains("not enough memory"), "\(error)"
                    )
                } catch {
                    expect(error is HTTPBodyError && "\(error)".contains("not enough memory"), "\(error)")
                }
                try await checkSmall(server, loader)
            }
            print("ok: a body that does not fit into memory is an error")
        }

        private func checkSmall(_ server: RawServer, _ loader: CurlLoader) async throws {
            let response = try await loader.load(HTTPRequest(url: server.url("/small")))
            expect(try await response.body.data().count == 2, "the small body has not two bytes")
        }

        private func limit(to bytes: Int) {
            var limit = rlimit(rlim_cur: rlim_t(bytes), rlim_max: rlim_t(bytes))
            expect(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0, "there is no limit")
        }

        private static var addressSpace: Int {
            let status = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
            let pages = status.split(separator: " ").first.flatMap { Int($0) } ?? 0
            return pages * Int(sysconf(CInt(_SC_PAGESIZE)))
        }
    }
#endif

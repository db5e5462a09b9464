// SPDX-License-Identifier: MIT
#if os(Linux) && DEBUG
    import Foundation
    @testable import Letterhead
    import TestKit

    /// GETs to a server that may violate HTTP/2, one after the other (see Tests/Scripts/http2-conformance.py).
    ///
    /// Prints a line for each: the status and the size of the body, or the code of the error and its message.
    struct Gets {
        let port: Int
        let count: Int

        func run() async throws {
            var configuration = TransportConfiguration()
            configuration.security.roots = .pem(Data(Certificates.authority.utf8))
            let loader = CurlLoader(configuration)
            for number in 1...count {
                guard let url = URL(string: "https://127.0.0.1:\(port)/\(number)") else { fail("no URL") }
                var request = HTTPRequest(url: url)
                request.timeout = .seconds(2)
                do throws(HTTPError) {
                    let response = try await loader.load(request)
                    print("\(response.status.code) \(response.body.buffered?.count ?? 0)")
                } catch {
                    print("\(error.code): \(error.message)")
                }
            }
        }
    }
#endif

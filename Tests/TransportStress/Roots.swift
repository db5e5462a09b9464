// SPDX-License-Identifier: MIT
#if os(Linux) && DEBUG
    import Foundation
    import Letterhead

    /// A request over TLS from a process that sees only a folder's files, as in a minimal container.
    struct Roots {
        let port: Int
        let folder: String

        func run() async {
            expect(chroot(folder) == 0 && chdir("/") == 0, "the root of the process cannot be changed")
            guard let url = URL(string: "https://127.0.0.1:\(port)/") else { fail("no URL") }
            do {
                print(try await HTTPClient.makeTransport(TransportConfiguration()).load(HTTPRequest(url: url)).status)
            } catch {
                print(error)
            }
        }
    }
#endif

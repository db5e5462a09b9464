// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    @testable import Letterhead

    /// Requests to public addresses only, while the environment specifies a proxy, or none if its variable has no name.
    struct EnvironmentAddresses {
        let variable: String

        func run() async {
            let excluded = "security.addresses excludes the proxy "
            let judged = "security.addresses refused each address of 127.0.0.1 "
            let isOfHTTP = ["http_proxy", "all_proxy", "ALL_PROXY"].contains(variable)
            let refused = await failure(of: .public)
            expect(refused.hasPrefix(variable.isEmpty ? judged : excluded), "a proxy: \(refused)")
            let trusted = await failure(of: .public(proxies: .trusted))
            expect(isOfHTTP ? trusted.isEmpty : trusted.hasPrefix(judged), "a trusted proxy: \(trusted)")
            print("ok: \(variable)")
        }

        /// Returns the message of the failure of a request, or an empty text for a response.
        private func failure(of addresses: TransportConfiguration.Security.Addresses) async -> String {
            var configuration = TransportConfiguration()
            configuration.security.addresses = addresses
            guard let url = URL(string: "http://127.0.0.1:1/") else { fail("no URL") }
            do {
                _ = try await CurlLoader(configuration).load(HTTPRequest(url: url))
                return ""
            } catch {
                return error.message
            }
        }
    }
#endif

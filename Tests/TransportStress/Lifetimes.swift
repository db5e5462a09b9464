// SPDX-License-Identifier: MIT
#if os(Linux) && DEBUG
    import Foundation
    import Letterhead
    import TestKit

    /// How long a connection is used, which libcurl decides by its own clock.
    struct Lifetimes {
        func run() async throws {
            var (idle, old, kept) = (TransportConfiguration(), TransportConfiguration(), TransportConfiguration())
            (idle.idleConnectionTimeout, idle.maximumConnectionAge) = (.seconds(2), nil)
            (old.idleConnectionTimeout, old.maximumConnectionAge) = (nil, .seconds(2))
            (kept.idleConnectionTimeout, kept.maximumConnectionAge) = (nil, nil)
            var setups: [(name: String, transport: any HTTPLoader, server: RawServer)] = []
            for (name, configuration) in [("idle", idle), ("old", old), ("kept", kept)] {
                let server = RawServer { connection, _ in
                    while connection.readHead() != nil { connection.write("HTTP/1.1 204 No Content\r\n\r\n") }
                }
                setups.append((name, HTTPClient.makeTransport(configuration), server))
            }
            // With requests every 700 ms, a connection is never idle for 2 seconds, but older than 2 seconds at the
            // end.
            for number in 0..<6 {
                for setup in setups where setup.name != "idle" || number < 2 || number == 5 {
                    _ = try await setup.transport.load(HTTPRequest(url: setup.server.url()))
                }
                try await Task.sleep(for: .milliseconds(700))
            }
            print(setups.map { "\($0.name) \($0.server.connectionCount)" }.joined(separator: ", "))
        }
    }
#endif

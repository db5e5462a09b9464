// SPDX-License-Identifier: MIT
#if PEERS
    import AsyncHTTPClient
    import Foundation
    import NIOCore
    import NIOHTTP1
    import NIOSSL

    /// AsyncHTTPClient with as many connections as Letterhead's transport has.
    final class PeerClient: Sendable {
        private let client: HTTPClient

        init(width: Int, roots: URL?) throws {
            var configuration = HTTPClient.Configuration()
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = width
            if let roots {
                configuration.tlsConfiguration = .makeClientConfiguration()
                configuration.tlsConfiguration?.trustRoots = .file(roots.path)
            }
            client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        }

        deinit { try? client.syncShutdown() }

        func get(_ url: URL) async throws -> Data {
            let response = try await client.execute(HTTPClientRequest(url: url.absoluteString), timeout: .seconds(60))
            guard response.status.code == 200 else { throw WrongAnswer() }
            return Data(try await response.body.collect(upTo: 1 << 20).readableBytesView)
        }
    }
#endif

// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// Limits of time, and a session of a given configuration.
extension TransportTests {
    @Test(arguments: Transport.allCases)
    func `a timeout bounds the body of a streamed response whose status is not accepted`(
        transport: Transport
    ) async throws {
        let server = try await MockServer.start { _ in
            MockServer.Response(status: 500, body: Data(count: 8)).fault(.stall, at: .responseBody)
        }
        var request = HTTPRequest(url: server.url)
        request.timeout = .milliseconds(300)
        request.responseDelivery = .streamed
        // A machine so busy that the head comes too late gets the same error earlier.
        #expect(await failure { _ = try await transport.loader.load(request).body.data() }?.code == .timedOut)
        await server.stop()
    }

    @Test(arguments: Transport.allCases)
    func `a request may set its idle timeout`(transport: Transport) async throws {
        let server = try await MockServer.start { _ in
            MockServer.Response(body: Data(count: 8)).fault(.stall, at: .responseBody)
        }
        let request = HTTPRequest(url: server.url).with { $0.idleTimeout = .milliseconds(300) }
        #expect(await failure { try await transport.loader.load(request) }?.code == .timedOut)
        await server.stop()
    }
}

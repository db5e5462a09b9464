// SPDX-License-Identifier: MIT
import Bookshop
import Foundation
import Letterhead
import LetterheadTesting
import Testing

/// A real server on the loopback interface: for sockets and their faults.
@Suite struct ServerTests {
    @Test func `a connection that is reset is tried again`() async throws {
        let server = try await MockServer.start { _ in try .json(Book(isbn: "1", title: "Notes")) }
        server.enqueue(.closure.fault(.reset, at: .responseStart))
        let retrying = Backoff(.immediate, maximumRetries: 1)
        let shop = Bookshop(environment: ServerEnvironment(baseURL: server.url), retrying: retrying)
        #expect(try await shop.book("1").title == "Notes")
        #expect(server.requests.map(\.path) == ["/books/1", "/books/1"])
        await server.stop()
    }
}

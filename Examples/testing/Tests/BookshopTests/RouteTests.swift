// SPDX-License-Identifier: MIT
import Bookshop
import Foundation
import Letterhead
import LetterheadTesting
import Testing

/// Routes: for requests that have no endpoint type, and for servers that remember.
@Suite struct RouteTests {
    @Test func `a moved book is found at its new address`() async throws {
        let stubs = StubLoader()
        stubs.on(GetBook.self) { _ in .status(.movedPermanently, headers: ["Location": "/v1/archive/1"]) }
        stubs.on(.get("/v1/archive/{isbn}")) { call in .json(Book(isbn: call["isbn"], title: "Old")) }
        #expect(try await Bookshop(transport: stubs).book("1").title == "Old")
        try stubs.verify()
    }

    @Test func `a removed book is unknown`() async throws {
        let shelf = StubScenario("shelf", initial: "full")
        let stubs = StubLoader()
        stubs.on(GetBook.self, during: shelf.state("full")) { Book(isbn: $0.isbn, title: "Notes") }
        stubs.on(RemoveBook.self, during: shelf.state("full", movesTo: "empty")) { _ in .status(.noContent) }
        stubs.on(GetBook.self, during: shelf.state("empty")) { _ in .status(.notFound) }
        let shop = Bookshop(transport: stubs)
        _ = try await shop.book("1")
        try await shop.remove("1")
        await #expect(throws: Bookshop.Failure.unknownBook) { try await shop.book("1") }
        try stubs.verify()
    }
}

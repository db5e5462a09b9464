// SPDX-License-Identifier: MIT
import Bookshop
import Foundation
import Letterhead
import LetterheadTesting
import Testing

/// Stubs by endpoint type: most tests are of this kind.
@Suite struct StubTests {
    private let stubs = StubLoader()
    private var shop: Bookshop { Bookshop(transport: stubs) }
    private let book = Book(isbn: "1", title: "Notes", publishedAt: Date(timeIntervalSince1970: 0))

    @Test func `a book is found by its number`() async throws {
        stubs.on(GetBook.self) { template in Book(isbn: template.isbn, title: "Notes") }
        #expect(try await shop.book("42").isbn == "42")
        try stubs.verify()
    }

    @Test func `a date passes the decoder of the client`() async throws {
        stubs.on(GetBook.self) { [book] _ in book }
        #expect(try await shop.book("1") == book)
    }

    @Test func `a book that does not exist is unknown`() async throws {
        stubs.on(GetBook.self) { _ in .status(.notFound) }
        await #expect(throws: Bookshop.Failure.unknownBook) { try await shop.book("42") }
    }

    @Test func `the reason of a refusal is shown`() async throws {
        stubs.on(AddBook.self) { _ in .failure(Refusal(reason: "duplicate"), status: .conflict) }
        await #expect(throws: Bookshop.Failure.refused("duplicate")) { try await shop.add(book) }
    }

    @Test func `a new book is sent once, with its title`() async throws {
        stubs.on(AddBook.self, times: 1) { template in .value(template.book, status: .created) }
        _ = try await shop.add(book)
        #expect(stubs.calls(of: AddBook.self)[0].template.book.title == "Notes")
        #expect(stubs.calls(of: RemoveBook.self).isEmpty)
        try stubs.verify()
    }

    @Test func `all pages of an author are read`() async throws {
        stubs.on(ListBooks.self) { [book] _ in .pages([[book], [Book(isbn: "2", title: "Letters")]]) }
        #expect(try await shop.titles(by: "Ada") == ["Notes", "Letters"])
        #expect(stubs.calls(of: ListBooks.self).count == 2)
    }

    @Test func `a busy shop is asked again`() async throws {
        let clock = TestClock()
        let stubs = StubLoader(clock: clock).on(GetBook.self, inOrder: .status(.serviceUnavailable), .value(book))
        let shop = Bookshop(retrying: Backoff(maximumRetries: 3, clock: clock), transport: stubs)
        #expect(try await clock.run { try await shop.book("1") } == book)
        try stubs.verify()
    }

    @Test func `a slow shop is given up after ten seconds, which take no time`() async throws {
        let clock = TestClock()
        let stubs = StubLoader(clock: clock).on(GetBook.self) { [book] _ in .delayed(.seconds(30), book) }
        let shop = Bookshop(retrying: Backoff(clock: clock), transport: stubs)
        await #expect(throws: Bookshop.Failure.tooSlow) { try await clock.run { try await shop.book("1") } }
        #expect(clock.now.offset == .seconds(10))
    }

    @Test func `a request that no stub expects names the nearest stub`() async throws {
        stubs.on(RemoveBook.self, times: 1) { _ in .status(.noContent) }
        try await shop.remove("1")
        let error = try await #require(throws: HTTPError.self) { try await shop.remove("2") }
        #expect(error.code == .unexpectedRequest)
        #expect(error.message.contains("the nearest is the stub of RemoveBook"))
    }
}

// SPDX-License-Identifier: MIT
import Bookshop
import Foundation
import Letterhead
import LetterheadTesting
import LetterheadTestingSupport
import Testing

/// The client of an app is often a constant. In tests its transport is a `ScopedLoader`, and each test has its own stubs.
private let shared = Bookshop(transport: ScopedLoader())

@Suite(.stubbed) struct SharedClientTests {
    @Test(arguments: 1...10)
    func `parallel tests do not see the stubs of others`(number: Int) async throws {
        let stubs = try #require(StubLoader.current)
        stubs.on(GetBook.self, times: 1) { Book(isbn: $0.isbn, title: "Volume \(number)") }
        #expect(try await shared.book("1").title == "Volume \(number)")
    }
}

/// Stubs that all tests of a suite share. A test replaces the one that it needs otherwise.
@Suite(.stubbed { $0.on(GetBook.self, times: .any) { Book(isbn: $0.isbn, title: "Notes") } }) struct CommonStubsTests {
    @Test func `a book is found`() async throws {
        #expect(try await shared.book("1").title == "Notes")
    }

    @Test func `a book that is sold out is unknown`() async throws {
        try #require(StubLoader.current).overriding.on(GetBook.self) { _ in .status(.notFound) }
        await #expect(throws: Bookshop.Failure.unknownBook) { try await shared.book("1") }
    }
}

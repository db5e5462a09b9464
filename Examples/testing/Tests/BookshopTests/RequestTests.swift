// SPDX-License-Identifier: MIT
import Bookshop
import Foundation
import Letterhead
import LetterheadRecording
import LetterheadTesting
import Testing

/// Snapshots: what would be sent, compared with a file.
@Suite struct RequestTests {
    @Test func addsABook() async throws {
        let stubs = StubLoader().on(AddBook.self) { .value($0.book) }
        let shop = Bookshop(authentication: .bearer(Secret("s3cret")), transport: stubs)
        _ = try await shop.add(Book(isbn: "1", title: "Notes", publishedAt: Date(timeIntervalSince1970: 0)))
        try RequestSnapshot(stubs.requests[0]).check()
    }
}

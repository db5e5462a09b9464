// SPDX-License-Identifier: MIT
import Bookshop
import Foundation
import Letterhead
import LetterheadRecording
import LetterheadTesting
import Testing

/// Cassettes: responses that were recorded once. `LETTERHEAD_CASSETTES=record swift test` records them again.
@Suite struct RecordingTests {
    @Test func findsARecordedBook() async throws {
        let cassette = try Cassette(mode: .environment(default: .replay))
        let shop = Bookshop(attemptLinks: cassette.link)
        #expect(try await shop.book("978-0").title == "Recorded")
        try cassette.save()
        #expect(cassette.unused == 0)
        #expect(cassette.audit().isEmpty)
    }
}

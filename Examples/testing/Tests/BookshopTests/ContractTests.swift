// SPDX-License-Identifier: MIT
import Bookshop
import Foundation
import Letterhead
import LetterheadContracts
import LetterheadRecording
import LetterheadTesting
import Testing

/// Contracts: the types of the endpoints, compared with what the server has sent.
@Suite struct ContractTests {
    @Test func `the recorded responses fit the types`() async throws {
        let recording = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Cassettes/RecordingTests/findsARecordedBook.har")
        let report = try await Contract.check(
            Cassette(recording, mode: .replay), against: GetBook.self, decoder: Bookshop.decoder)
        // `LETTERHEAD_SNAPSHOTS=record swift test` replaces the file.
        try report.expect(noBreakSince: "bookshop.contract")
    }

    @Test func `a server that renames the title breaks the contract`() async throws {
        let recording = FileManager.default.temporaryDirectory.appending(path: "contract-\(UUID()).har")
        let cassette = try Cassette(recording, mode: .record)
        let stubs = StubLoader().on(.any()) { _ in .json(["isbn": "1", "name": "Notes"]) }
        _ = try? await Bookshop(attemptLinks: cassette.link, transport: stubs).book("1")
        try cassette.save()
        let report = try await Contract.check(
            Cassette(recording, mode: .replay), against: GetBook.self, decoder: Bookshop.decoder)
        #expect(
            report.description == """
                GET books/{} GetBook, 1 response
                  $.title: required String, but absent (1 of 1)
                  unread: $.name
                """)
        #expect(throws: RecordingError.self) { try report.expect(noBreakSince: "bookshop.contract") }
    }
}

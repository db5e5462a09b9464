// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadRecording
import LetterheadTesting
import LetterheadTestingSupport
import TestKit
import Testing

/// A flight recorder's file in a test of its own.
@Suite struct ReplayingTraitTests {
    private static let shared = HTTPClient.over(ScopedLoader())

    @Test func `a file that was written with more secret names is replayed with these names`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "flights-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let redaction = Redaction.standard.adding(parameters: ["note"])
        let template = TestEndpoint("a").query("note", "ghp_abcdefghijklmnopqrstuvwxyz")
        let recorder = FlightRecorder()
        let recording = HTTPClient(
            environment: .of("https://api.test/v1"), observers: [recorder],
            transport: StubLoader().on(.any()) { _ in .json(["ok": true]) })
        _ = try await recording.send(template)
        #expect(throws: (any Error).self) { try recorder.dump(around: CancellationError(), to: folder) }
        let file = try recorder.dump(around: CancellationError(), to: folder, redaction: redaction)
        let source = folder.appending(path: "test.swift").path
        let trait: ReplayingTrait = .replaying(file.lastPathComponent, redaction: redaction, in: source)
        try await trait.provideScope(for: #require(Test.current), testCase: Test.Case.current) {
            let status = try await Self.shared.send(template).status
            #expect(status == .ok)
        }
    }
}

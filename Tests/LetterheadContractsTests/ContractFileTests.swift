// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadContracts
import LetterheadRecording
import LetterheadTesting
import Testing

@Suite struct ContractFileTests {
    private let source = FileManager.default.temporaryDirectory.appending(path: "contracts-\(UUID())/Tests.swift")
    private let ada = #"{"id":1,"login":"ada","plan":"pro","email":"a@b.c"}"#

    private var file: URL { source.deletingLastPathComponent().appending(path: "api.contract") }

    private func expect(_ bodies: String...) async throws {
        var recording = Recording()
        for body in bodies { try recording.add("members/ada", body, template: "GetMember") }
        try await recording.check().expect(noBreakSince: "api.contract", in: source.path)
    }

    @Test func `a missing file is written, one sorted line for each member, and fails`() async throws {
        let error = await #expect(throws: RecordingError.self) { try await expect(ada) }
        #expect(error?.description.hasSuffix("did not exist and was written: check it") == true)
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 6 && lines == lines.sorted())
        #expect(lines.contains("GET members/{} GetMember $.email: required String"))
        try await expect(ada)
    }

    @Test func `a break names endpoint and path, what was and what is`() async throws {
        _ = try? await expect(ada)
        let error = await #expect(throws: RecordingError.self) {
            try await expect(ada, #"{"id":"1","login":"ada","plan":"gold"}"#)
        }
        #expect(
            error?.description == """
                the responses break api.contract:
                GET members/{} GetMember $.email: was required String, is required String, absent
                GET members/{} GetMember $.id: was required Int, is required Int, a string
                GET members/{} GetMember $.plan: was required Plan, is required Plan, the new value "gold"
                """)
    }

    @Test func `what the file already has, and what breaks nothing, is accepted`() async throws {
        let broken = #"{"id":1,"login":"ada","plan":"pro"}"#
        _ = try? await expect(broken)
        try await expect(broken, #"{"id":1,"login":"ada","plan":"pro","email":"","bio":"","new":1}"#)
    }

    @Test func `one of several recorded breaks is accepted, and another one is not`() async throws {
        func member(_ plan: String) -> String { #"{"id":1,"login":"ada","plan":"\#(plan)","email":""}"# }
        _ = try? await expect(ada, member("gold"), member("max"), member("ultra"))
        try await expect(ada, member("max"))
        let error = await #expect(throws: RecordingError.self) { try await expect(ada, member("max"), member("go")) }
        #expect(
            error?.description.hasSuffix(
                #"is required Plan, the new value "go", the new value "max""#) == true)
    }

    @Test func `a break of a member that is now demanded in another way is not accepted`() async throws {
        _ = try? await expect(#"{"id":1,"login":"ada","plan":"pro"}"#, ada)
        let text = try String(contentsOf: file, encoding: .utf8)
        try text.replacingOccurrences(of: "email: required", with: "email: optional").write(
            to: file, atomically: true, encoding: .utf8)
        let error = await #expect(throws: RecordingError.self) {
            try await expect(#"{"id":1,"login":"ada","plan":"pro"}"#, ada)
        }
        #expect(error?.description.hasSuffix("was optional String, absent, is required String, absent") == true)
    }

    @Test func `an endpoint without a response is a break`() async throws {
        _ = try? await expect(ada)
        let error = await #expect(throws: RecordingError.self) { try await expect() }
        #expect(
            error?.description.hasSuffix(
                "GET members/{} GetMember: was checked before, and now has no recorded response") == true)
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Testing

private struct Sound: RequestTemplate {
    let login: String
    var path: RequestPath { "users/\(login)" }
    var method: HTTPMethod { .post }
    var body: some HTTPBody { JSONBody(login) }
}

private struct FreshBoundary: RequestTemplate {
    var path: RequestPath { "a" }
    var boundary: String? { UUID().uuidString }
}

@Suite struct TemplateLawsTests {
    @Test func `a valid template violates no law`() async throws {
        try await TemplateLaws.check(Sound(login: "ada"))
    }

    @Test func `a member that differs between two reads is reported`() async throws {
        let violations = await TemplateLaws.violations(of: FreshBoundary())
        #expect(violations.map(\.law) == ["stability"])
        #expect(violations.map(\.member) == [.boundary])
        await #expect(throws: LawViolations.self) { try await TemplateLaws.check(FreshBoundary()) }
    }
}

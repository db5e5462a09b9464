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

/// A template with an encoder that writes the members in another order each time.
private struct Unsorted: RequestTemplate {
    let members = Dictionary(uniqueKeysWithValues: (0..<64).map { ("name\($0)", $0) })
    var path: RequestPath { "a" }
    var method: HTTPMethod { .post }
    var body: some HTTPBody { JSONBody(members, encoder: JSONEncoder()) }
}

private struct FreshIdentifier: RequestTemplate {
    var path: RequestPath { "a" }
    var method: HTTPMethod { .post }
    var body: some HTTPBody { JSONBody(["id": UUID().uuidString]) }
}

@Suite struct TemplateLawsTests {
    @Test func `a valid template violates no law`() async throws {
        try await TemplateLaws.check(Sound(login: "ada"))
        try await TemplateLaws.check(Unsorted())
    }

    @Test func `a member that differs between two reads is reported`() async throws {
        let violations = await TemplateLaws.violations(of: FreshBoundary())
        #expect(violations.map(\.law) == ["stability"] && violations.map(\.member) == [.boundary])
        #expect(await TemplateLaws.violations(of: FreshIdentifier()).map(\.member) == [.body])
        await #expect(throws: LawViolations.self) { try await TemplateLaws.check(FreshBoundary()) }
    }
}

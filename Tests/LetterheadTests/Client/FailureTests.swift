// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// The parts of an error that describe the body of a response with an unaccepted status.
struct FailureTests {
    struct Problem: Decodable, Sendable, Equatable {
        var title: String
    }

    struct Broken: RequestTemplate {
        typealias Failure = Problem
        var path: RequestPath { "broken" }
    }

    private func error(
        status: HTTPStatus = 422, _ body: String, type: String = "application/json", isSecret: Bool = false
    ) async -> HTTPError? {
        let stubs = StubLoader().on(.any()) { _ in
            .status(status, headers: ["Content-Type": type], body: Data(body.utf8))
        }
        return await failure { try await HTTPClient.over(stubs).send(Broken().secret(isSecret)) }
    }

    @Test func `an endpoint's own failure is decoded`() async {
        #expect(await error(#"{"title":"no"}"#)?.failure(of: Broken.self) == Problem(title: "no"))
    }

    @Test(arguments: ["", "no", "{}", "[1]", "{\"title\":1}"])
    func `an empty or foreign body is not a failure value`(body: String) async {
        let error = await error(body)
        #expect(error?.failure(of: Broken.self) == nil && error?.response?.status == 422)
    }

    @Test func `problem details are read with their extensions`() async {
        let body = #"{"type":"https://x/out","title":"Out of credit","status":403,"detail":"30 < 50","balance":30}"#
        let problem = await error(body, type: "application/problem+json; charset=utf-8")?.problem
        #expect(problem?.type == "https://x/out" && problem?.title == "Out of credit" && problem?.status == 403)
        #expect(problem?.detail == "30 < 50" && problem?.instance == nil)
        #expect(problem?.extensions == ["balance": 30])
    }

    @Test func `a problem of another media type is ignored`() async {
        #expect(await error(#"{"title":"x"}"#)?.problem == nil)
        #expect(await error(#"{"title":1}"#, type: "application/problem+json")?.problem?.type == "about:blank")
    }

    @Test func `an excerpt has at most 512 bytes of text and redacts what is secret`() async throws {
        let excerpt = try #require(
            await error(#"{"token":"SECRET","note":"marker "# + String(repeating: "x", count: 999))?.bodyExcerpt)
        #expect(excerpt.utf8.count <= 530 && excerpt.contains("marker") && !excerpt.contains("SECRET"))
    }

    @Test func `bytes that are not text, and bodies that are secret as a whole, have no excerpt`() async {
        #expect(await error("a\0b")?.bodyExcerpt == nil)
        let secret = await error(#"{"x":"SECRET"}"#, isSecret: true)
        #expect(secret?.bodyExcerpt == nil && secret?.response.map { "\($0)".contains("SECRET") } == false)
    }

    @Test func `an error's response keeps at most a mebibyte of the body`() async {
        #expect(await error(String(repeating: "x", count: 3 << 20))?.response?.body.length == 1 << 20)
    }

    @Test func `a name in a response is shown without control characters, and truncated`() async throws {
        let stubs = StubLoader().on(.any()) { _ in .json(["a\n\u{1B}" + String(repeating: "x", count: 10_000): ""]) }
        let error = await failure { try await HTTPClient.over(stubs).send(Get<[String: Int]>("counts")) }
        let text = try #require(error).description
        #expect(text.contains(#"a\u{a}\u{1b}xxx"#) && text.utf8.count < 400)
    }
}

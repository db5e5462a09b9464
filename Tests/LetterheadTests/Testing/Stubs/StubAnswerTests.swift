// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// Answers that depend on the request, and conditions of a test.
@Suite struct StubAnswerTests {
    private let stubs = StubLoader()
    private var client: HTTPClient { .over(stubs) }

    private func oneShot(_ text: String) -> StreamBody {
        let bytes = AsyncStream<Data> { continuation in
            continuation.yield(Data(text.utf8))
            continuation.finish()
        }
        return StreamBody(once: bytes, contentType: "application/json")
    }

    @Test func `a request passes through to another loader, and the call is recorded`() async throws {
        let server = MockLoader { request in try .ok(request, json: Person.grace) }
        stubs.on(.member("ada"), times: 1) { _ in .passThrough(to: server) }
        #expect(try await client.send(.member("ada").header("X", "1")) == .grace)
        #expect(server.requests.map(\.target) == ["/v1/people/ada"] && server.requests[0].headers["X"] == "1")
        #expect(stubs.calls(of: .member("ada"))[0].response?.status == .ok)
        try stubs.verify()
    }

    @Test func `an error of the other loader is the error of the request`() async throws {
        stubs.on(.any()) { _ in .passThrough(to: MockLoader()) }
        let error = await #expect(throws: HTTPError.self) { _ = try await client.send(.member("ada")) }
        #expect(error?.code == .cannotConnect && stubs.calls[0].error?.code == .cannotConnect)
    }

    @Test(arguments: [true, false])
    func `a body that can be sent only once reaches the other loader`(isStubbed: Bool) async throws {
        let server = MockLoader { request in
            let body = try request.framedBody().data
            #expect(body.map { String(decoding: $0, as: UTF8.self) } == #"{"id":2,"login":"grace"}"#)
            #expect(request.framedHeaders()[.contentType] == "application/json")
            return try .ok(request, json: Person.grace)
        }
        let stubs = StubLoader(otherwise: isStubbed ? nil : server)
        if isStubbed { stubs.on(Post<Person>.self) { _ in .passThrough(to: server) } }
        let body = oneShot(#"{"id":2,"login":"grace"}"#)
        #expect(try await HTTPClient.over(stubs).send(.enlist(body)) == .grace)
        #expect(server.requests.count == 1)
    }

    @Test func `a download that passes through is saved by the other loader`() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "passed-\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        stubs.on(.any()) { _ in .passThrough(to: MockLoader { .ok($0, body: Data("saved".utf8)) }) }
        _ = try await client.download(.member("ada"), to: file)
        #expect(try String(contentsOf: file, encoding: .utf8) == "saved")
    }

    @Test func `a condition of a route is combined with the others`() async throws {
        let route = StubRoute.get("/v1/people/{login}").matching("has an even length") { request in
            (request.path.segments.last?.count ?? 1) % 2 == 0
        }
        stubs.on(route.header("X", "1")) { call in .json(Person(id: 1, login: call["login"])) }
        #expect(try await client.send(.member("joan").header("X", "1")).login == "joan")
        let error = try await #require(throws: HTTPError.self) { _ = try await client.send(.member("ada")) }
        #expect(error.message.hasSuffix(#"the header X has no value; the condition "has an even length" is false"#))
    }

    @Test func `a regular expression is a condition, and a condition without a description has the name of its line`()
        async throws
    {
        stubs.on(.any().matching { $0.path.string.contains(/people\/[a-c]/) }) { _ in .json(Person.ada) }
        #expect(try await client.send(.member("ada")) == .ada)
        let error = try await #require(throws: HTTPError.self) { _ = try await client.send(.member("joan")) }
        #expect(error.message.contains(/the condition in LetterheadTests\/StubAnswerTests.swift:\d+ is false/))
    }

    @Test func `routes with conditions are equal if their descriptions are`() {
        let route = StubRoute.get("/a")
        #expect(route.matching("x") { _ in true } == route.matching("x") { _ in false })
        #expect(route.matching("x") { _ in true } != route.matching("y") { _ in true })
        // Without a description, the line tells them apart.
        let first = route.matching { _ in true }
        let second = route.matching { _ in true }
        #expect(first != second && first != route)
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadContracts
import LetterheadTesting
import TestKit
import Testing

private struct Account: Decodable, Sendable {
    enum Plan: String, Decodable { case free }

    var id: Int
    var plan: Plan
    var name: String?
}

private struct Problem: Decodable, Sendable {
    var title: String
}

private struct GetAccount: RequestTemplate {
    typealias Response = Account
    typealias Failure = Problem
    let id: Int
    var path: RequestPath { "accounts/\(id)" }
}

private struct GetPlaceholder: RequestTemplate {
    struct Response: Decodable, Sendable {}
    var path: RequestPath { "placeholder" }
}

private struct GetScores: RequestTemplate {
    typealias Response = [Int: Int]
    var path: RequestPath { "scores" }
}

/// A template that decodes itself.
private struct GetSecond: RequestTemplate {
    typealias Response = Account
    var path: RequestPath { "second" }

    func decode(_ response: HTTPResponse) async throws -> Account {
        try await response.decode([Account].self).last ?? Account(id: 0, plan: .free)
    }
}

@Suite(.timeLimit(.minutes(3))) struct ContractObserverTests {
    /// An observer, its findings as they arrive, and a client over stubs.
    private struct Scene {
        let findings: AsyncStream<ContractReport.Finding>
        let observer: ContractObserver
        let client: HTTPClient

        init(
            _ stubs: StubLoader, sampling: Double = 1, maximumMembers: Int = 100,
            random: @escaping @Sendable () -> Double = { 0.5 }
        ) {
            let (findings, found) = AsyncStream.makeStream(of: ContractReport.Finding.self)
            self.findings = findings
            observer = ContractObserver(sampling: sampling, maximumMembers: maximumMembers, random: random) {
                found.yield($0)
            }
            client = HTTPClient(
                environment: ServerEnvironment("https://api.test"), observers: [observer], transport: stubs)
        }

        func first(_ count: Int) async -> [String] {
            var lines: [String] = []
            for await finding in findings {
                lines.append("\(finding)")
                if lines.count == count { break }
            }
            return lines
        }
    }

    private static func stubs(_ bodies: String...) -> StubLoader {
        let stubs = StubLoader()
        for body in bodies {
            stubs.on(.any(), times: 1) { _ in
                .response { HTTPResponse(request: $0, status: .ok, body: HTTPResponseBody(Data(body.utf8))) }
            }
        }
        return stubs
    }

    @Test func `a response that decodes shows the members that it leaves out and adds`() async throws {
        let scene = Scene(Self.stubs(#"{"id":7,"plan":"free","node":"secret value"}"#))
        _ = try await scene.client.send(GetAccount(id: 7))
        #expect(await scene.first(1) == ["GET accounts/{} GetAccount $.node: unread"])
    }

    @Test func `a response that does not decode is reported once, without a value`() async throws {
        let body = #"{"id":7,"plan":"secret value"}"#
        let scene = Scene(Self.stubs(body, body, #"{"id":7,"plan":"free","last":1}"#))
        for _ in 0..<3 { _ = try? await scene.client.send(GetAccount(id: 7)) }
        #expect(
            await scene.first(3) == [
                "GET accounts/{} GetAccount $.plan: required Plan, but a new value (1 of 1)",
                "GET accounts/{} GetAccount $.plan: partly visible: decoding ends here, so what follows isn't checked",
                "GET accounts/{} GetAccount $.last: unread",
            ])
        #expect(scene.observer.report.findings.first?.count == 2)
        #expect(!scene.observer.report.description.contains("secret"))
    }

    @Test func `the body of an error is decoded to the failure`() async throws {
        let stubs = StubLoader().on(.any()) { _ in .json(["name": 1], status: .conflict) }
        let scene = Scene(stubs)
        _ = try? await scene.client.send(GetAccount(id: 7))
        #expect(
            await scene.first(1) == [
                "GET accounts/{} GetAccount failure $.title: required String, but absent (1 of 1)"
            ])
    }

    @Test func `a template that decodes itself is partly visible`() async throws {
        let scene = Scene(Self.stubs(#"[{"id":7,"plan":"free"}]"#))
        _ = try await scene.client.send(GetSecond().header("X-Trace", "1"))
        #expect(
            await scene.first(1) == ["GET second GetSecond $: partly visible: the template decodes the body itself"])
    }

    @Test func `a body of more than 1 MiB is left out`() async throws {
        let large = #"{"id":7,"plan":"free","large":"\#(String(repeating: "x", count: 1 << 20))"}"#
        let scene = Scene(Self.stubs(large, #"{"id":7,"plan":"free","small":1}"#))
        for _ in 0..<2 { _ = try await scene.client.send(GetAccount(id: 7)) }
        #expect(await scene.first(1) == ["GET accounts/{} GetAccount $.small: unread"])
    }

    @Test func `only sampled responses of a load's end are read`() async throws {
        let numbers = SharedValue([0.9, 0.1])
        let scene = Scene(
            Self.stubs(#"{"id":7,"plan":"free","first":1}"#, #"{"id":7,"plan":"free","second":1}"#), sampling: 0.5,
            random: { numbers.withLock { $0.removeFirst() } })
        for _ in 0..<2 { _ = try await scene.client.send(GetAccount(id: 7)) }
        #expect(await scene.first(1) == ["GET accounts/{} GetAccount $.second: unread"])
    }

    @Test func `responses that no load takes back make room`() async throws {
        let scene = Scene(Self.stubs(#"{"id":7,"plan":"free","node":1}"#))
        let request = HTTPRequest(url: try #require(URL(string: "https://api.test")))
        let response = HTTPResponse(request: request, status: .ok, body: HTTPResponseBody(Data("{}".utf8)))
        for load in 1...1_000 { scene.observer.record(.response(response), of: HTTPEvent(.responseHead, load: -load)) }
        _ = try await scene.client.send(GetAccount(id: 7))
        #expect(await scene.first(1) == ["GET accounts/{} GetAccount $.node: unread"])
    }

    @Test func `names that may be values are not reported and take no room`() async throws {
        let scores = (0..<40).map { #""\#($0)":1"# }.joined(separator: ",")
        let stubs = Self.stubs(#"{"ada@x.test":1}"#, "{\(scores)}", #"{"id":7,"plan":"free","node":1}"#)
        let scene = Scene(stubs, maximumMembers: 20)
        _ = try await scene.client.send(GetPlaceholder())
        _ = try await scene.client.send(GetScores())
        _ = try await scene.client.send(GetAccount(id: 7))
        #expect(
            await scene.first(2) == [
                "GET scores GetScores $: partly visible: its members are read by the names that the response contains",
                "GET accounts/{} GetAccount $.node: unread",
            ])
    }

    @Test func `the number of members of all endpoints is bounded`() async throws {
        let stubs = Self.stubs(#"{"id":7,"plan":"free"}"#)
        stubs.on(.any(), times: 1) { _ in .json(["name": 1], status: .conflict) }
        stubs.on(.any(), times: 1) { _ in .json(["id": "7", "plan": "free"]) }
        let scene = Scene(stubs, maximumMembers: 4)
        for _ in 0..<3 { _ = try? await scene.client.send(GetAccount(id: 7)) }
        #expect(await scene.first(1) == ["GET accounts/{} GetAccount $.id: required Int, but a string (1 of 2)"])
        #expect(scene.observer.report.lines.count == 4)
    }
}

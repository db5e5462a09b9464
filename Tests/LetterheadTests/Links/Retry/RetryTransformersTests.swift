// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

private struct Broken: Error, Equatable {}

@Suite(.timeLimit(.minutes(3))) struct RetryTransformersTests {
    private let journal = Journal()

    private func transformer(_ name: String) -> ModifyResponse {
        ModifyResponse { [journal] response in
            journal.write(name)
            response.headers.append("X-Changed", "by \(name)")
        }
    }

    private func validator(_ name: String) -> ClosureValidator {
        ClosureValidator(
            response: { [journal] _, _ in
                journal.write(name)
                return .nextValidator
            },
            failure: { [journal] _, _ in
                journal.write("\(name) failure")
                return .nextValidator
            })
    }

    private func chain(
        _ mock: MockLoader, transformers: [ModifyResponse], validators: [any HTTPValidator]? = nil,
        maximumRetries: Int = 0
    ) -> any HTTPLoader {
        let settings = Backoff(maximumRetries: maximumRetries, clock: TestClock(isAutomatic: true), random: { 1 })
        return Retry(
            transformers: transformers, validators: validators ?? [validator("V1"), validator("V2")], settings) --> mock
    }

    @Test func `transformers run in order, and all of them before the validators`() async throws {
        let chain = chain(.answering(200), transformers: [transformer("T1"), transformer("T2")])
        let response = try await chain.load(.plain())
        #expect(journal.all == ["T1", "T2", "V1", "V2"])
        #expect(response.headers.values(for: "X-Changed") == ["by T1", "by T2"])
    }

    @Test func `an endpoint's transformers run after the client's, and for no other requests`() async throws {
        let chain = chain(.answering(200), transformers: [transformer("client")], validators: [])
        let own = transformer("own")
        _ = try await chain.load(.plain { $0.responseTransformers = [own] })
        _ = try await chain.load(.plain())
        #expect(journal.all == ["client", "own", "client"])
    }

    @Test
    func `one that throws ends the load with its error, and neither transformer nor validator is called after it`()
        async throws
    {
        let mock = MockLoader.answering(503, body: "why")
        let broken = ModifyResponse { _ in throw Broken() }
        let chain = chain(mock, transformers: [transformer("T1"), broken, transformer("T3")], maximumRetries: 3)
        let error = try #require(await failure { try await chain.load(.plain { $0.retryStrategy = .immediate }) })
        #expect(error.underlying is Broken && error.mayHaveBeenSent)
        #expect(error.response?.status == 503 && error.response?.body.buffered == Data("why".utf8))
        #expect(journal.all == ["T1"] && mock.requests.count == 1)
        #expect(error.attempts.map(\.reason) == ["not retried: a response transformer failed the request"])
    }

    @Test func `an error of the library passes unchanged`() async {
        let own = ModifyResponse { throw HTTPError(.emptyResponse, request: $0.request, message: "mine") }
        let error = await failure { try await chain(.answering(200), transformers: [own]).load(.plain()) }
        #expect(error?.code == .emptyResponse && error?.message == "mine" && error?.response?.status == 200)
    }

    @Test func `a transformed response is judged, retried, and on record`() async throws {
        let mock = MockLoader.answering(200, 201)
        let busy = ModifyResponse { if $0.status == 200 { $0.status = .serviceUnavailable } }
        let response = try await chain(
            mock, transformers: [busy], validators: [DefaultValidator()], maximumRetries: 2
        ).load(.plain())
        #expect(response.status == 201 && response.attempts.map(\.status) == [503, 201])
    }

    @Test func `transformers run once for each attempt, and not for a failure`() async throws {
        let chain = chain(
            .answering(0, 503, 200), transformers: [transformer("T")], validators: [DefaultValidator()],
            maximumRetries: 3)
        #expect(try await chain.load(.plain()).attempts.count == 3)
        #expect(journal.all == ["T", "T"])
    }

    @Test func `two retries in one chain run an endpoint's own transformers once`() async throws {
        let own = transformer("own")
        let chain = Retry() --> Retry() --> MockLoader.answering(200)
        _ = try await chain.load(.plain { ($0.responseTransformers, $0.maximumRetries) = ([own], 1) })
        #expect(journal.all == ["own"])
    }

    @Test func `a transformer may change a body that is still arriving`() async throws {
        let louder = ModifyResponse { response in response.body = response.body.map { $0 + Data("!".utf8) } }
        let response = try await chain(.streaming(3), transformers: [louder]).load(.plain())
        #expect(try await response.body.data() == Data("x!x!x!".utf8))
    }

    @Test func `transformers that are written later are added`() async throws {
        let client = HTTPClient(
            environment: .of("https://a.test"), transformers: [transformer("client")],
            transport: MockLoader.answering(200))
        let template = TestEndpoint("x").transformed(by: transformer("1"), transformer("2")).header("a", "b")
        _ = try await client.send(template.transformed(by: transformer("3")))
        #expect(journal.all == ["client", "1", "2", "3"])
    }
}

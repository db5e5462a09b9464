// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

private struct MyError: Error, Equatable {
    var text: String
}

private enum Note: HTTPRequestOption {
    static let defaultOptionValue = "none"
}

@Suite(.timeLimit(.minutes(3))) struct RetryVerdictTests {
    private let journal = Journal()

    /// A validator that writes down that it ran.
    private func note(
        _ name: String, _ verdict: @escaping @Sendable (HTTPResponse) -> HTTPValidatorResult = { _ in .nextValidator }
    ) -> ClosureValidator {
        ClosureValidator(
            response: { [journal] response, _ in
                journal.write(name)
                return verdict(response)
            },
            failure: { [journal] _, _ in
                journal.write("\(name) failure")
                return .nextValidator
            })
    }

    @Test func `validators run in order until one fails the load`() async {
        let scene = RetryScene(
            .answering(200),
            validators: [note("1"), note("2"), note("3") { _ in .failChain(MyError(text: "third")) }, note("4")])
        let result = await scene.load()
        #expect(journal.all == ["1", "2", "3"])
        #expect(result.code == .validationFailed && result.error?.underlying as? MyError == MyError(text: "third"))
        #expect(result.error?.response?.status == 200 && result.attempts.count == 1)
    }

    @Test func `a replacement is judged by those that follow, and reaches the caller`() async {
        let scene = RetryScene(
            .answering(200),
            validators: [
                ClosureValidator(response: { response, _ in
                    var changed = response
                    changed[option: Note.self] = "noted"
                    return .nextValidatorWithResponse(changed)
                }),
                note("2") { [journal] response in
                    journal.write(response[option: Note.self])
                    return .nextValidator
                },
            ])
        let result = await scene.load()
        #expect(journal.all == ["2", "noted"])
        #expect((try? result.get())?[option: Note.self] == "noted")
    }

    @Test func `a failure can be replaced by a response, which is judged as such`() async {
        let rescue = ClosureValidator(
            response: { _, _ in .nextValidator },
            failure: { failure, _ in .nextValidatorWithResponse(HTTPResponse(request: failure.request, status: 203)) })
        let scene = RetryScene(.failing(.cannotConnect), validators: [note("1"), rescue, note("3")])
        #expect(await scene.load().status == 203)
        #expect(journal.all == ["1 failure", "3"])
    }

    @Test func `an error of the library passes unchanged, and any other thrown error counts as a failed chain`() async {
        let own = ClosureValidator(response: { _, request in
            .failChain(HTTPError(.cannotAuthenticate, request: request, message: "mine"))
        })
        let first = await RetryScene(.answering(200), validators: [own]).load()
        #expect(
            first.code == .cannotAuthenticate && first.error?.message == "mine" && first.error?.response?.status == 200)
        let throwing = ClosureValidator(response: { _, _ in throw MyError(text: "thrown") })
        let second = await RetryScene(.answering(200), validators: [throwing], maximumRetries: 3).load()
        #expect(second.error?.underlying as? MyError == MyError(text: "thrown") && second.attempts.count == 1)
    }

    @Test func `a code and a message fail the load with the request and the response that were judged`() async {
        let fail = ClosureValidator(
            response: { _, _ in .failChain(.invalidResponse, "version 2 is required") },
            failure: { _, _ in .failChain(.cannotAuthenticate, "sign in first") })
        let first = await RetryScene(.answering(200, body: "old"), validators: [fail], maximumRetries: 1).load()
        #expect(first.code == .invalidResponse && first.error?.message == "version 2 is required")
        #expect(first.error?.request.path == "/x" && first.error?.response?.body.buffered == Data("old".utf8))
        #expect(first.error?.response?.status == 200 && first.attempts.count == 1)
        let second = await RetryScene(.failing(.connectionLost), validators: [fail]).load()
        #expect(second.code == .cannotAuthenticate && second.error?.request.path == "/x")
        #expect((second.error?.underlying as? HTTPError)?.code == .connectionLost)
    }

    @Test func `a code and a message fail a stream with the part of it that can be read`() async {
        let fail = ClosureValidator(response: { _, _ in .failChain(.invalidResponse, "no") })
        let result = await RetryScene(.streaming(3), validators: [fail]).load()
        #expect(result.code == .invalidResponse && result.error?.response?.body.buffered == Data("xxx".utf8))
    }

    @Test func `the request of a failed chain is filled in for a custom retry link, too`() async {
        let request = HTTPRequest.plain()
        let response = HTTPResponse(request: request, status: 200)
        guard case .failChain(let error) = HTTPValidatorResult.failChain(.invalidResponse, "no") else {
            Issue.record("the verdict is failChain")
            return
        }
        let filled = HTTPError(error, request: request, response: response)
        #expect(filled.code == .invalidResponse && filled.message == "no")
        #expect(filled.request.path == "/x" && filled.response?.status == 200)
    }

    @Test func `a failed chain is not retried by the request's policy`() async {
        let fail = ClosureValidator(response: { _, _ in .failChain(MyError(text: "no")) })
        let scene = RetryScene(.answering(503), validators: [fail])
        _ = await scene.load {
            $0.retryStrategy = .immediate.when(Retry.Condition { _ in true }); $0.maximumRetries = 3
        }
        #expect(scene.sent == 1)
    }

    @Test func `a verdict causes retries, and validators run once for each attempt`() async {
        let scene = RetryScene(
            .answering(200, 200, 201),
            validators: [note("v") { $0.status == 201 ? .nextValidator : .retry(.fibonacci(unit: .seconds(1))) }],
            maximumRetries: 5)
        let result = await scene.load()
        #expect(result.status == 201 && result.attempts.count == 3 && journal.all.count == 3)
        #expect(scene.clock.sleeps == [.seconds(1), .seconds(1)])
    }

    @Test func `a failure that cannot be retried is thrown unchanged`() async {
        let ask = ClosureValidator(response: { _, _ in .nextValidator }, failure: { _, _ in .retry(.immediate) })
        let scene = RetryScene(.failing(.cannotConnect), validators: [ask], maximumRetries: 2)
        let result = await scene.load()
        #expect(result.code == .cannotConnect && result.attempts.count == 3)
    }

    @Test func `a verdict does not retry an unsafe method`() async {
        let scene = RetryScene(
            .answering(200), validators: [ClosureValidator(response: { _, _ in .retry(.immediate) })], maximumRetries: 3
        )
        let result = await scene.load(.post)
        #expect(scene.sent == 1 && result.code == .validationFailed)
        #expect(result.error?.message.contains("idempotent") == true)
    }

    @Test func `a load that was never retried does not exhaust its retries`() async {
        let ask = ClosureValidator(response: { _, _ in .retry(.immediate) })
        for (status, code) in [(503, HTTPError.Code.unacceptableStatus), (200, .validationFailed)] {
            let mock = MockLoader.answering(status, body: "last")
            let never = await RetryScene(mock, validators: [ask]).load()
            #expect(never.code == code && never.error?.response?.status.code == status && never.attempts.count == 1)
            #expect(never.error?.message.hasPrefix("a validator requested a retry; ") == true)
            let once = await RetryScene(mock, validators: [ask], maximumRetries: 1).load()
            #expect(once.code == .retriesExhausted && once.error?.response?.attempts.count == 2)
            #expect([never, once].allSatisfy { $0.error?.response?.body.buffered == Data("last".utf8) })
        }
    }

    @Test func `an endpoint's own validators judge before the client's`() async {
        let scene = RetryScene(.answering(200), validators: [note("client")])
        let own = note("own")
        _ = await scene.load { $0.validators = [own] }
        #expect(journal.all == ["own", "client"])
    }

    @Test func `a link below changes the response before validators, and its error is judged as a failure`()
        async throws
    {
        let changing = AnyLoader { [journal] request in
            journal.write("changed")
            return HTTPResponse(request: request, status: 200)
        }
        _ = try await (Retry(validators: [note("judged")]) --> changing).load(.plain())
        #expect(journal.all == ["changed", "judged"])
        let broken = AnyLoader { _ in throw MyError(text: "broken") }
        let chain = Retry(validators: [note("response")]) --> broken
        await #expect(throws: HTTPError.self) { try await chain.load(.plain()) }
        #expect(journal.all.suffix(1) == ["response failure"])
    }

    @Test func `a streamed body is withheld from validators, and complete for the caller`() async throws {
        let read = Journal()
        let peek = ClosureValidator(response: { response, _ in
            do { _ = try await response.body.data() } catch { read.write("\(error as? HTTPBodyError == .withheld)") }
            var changed = response
            changed[option: Note.self] = "head"
            return .nextValidatorWithResponse(changed)
        })
        let response = try await RetryScene(.streaming(3), validators: [peek, peek]).chain.load(.plain())
        #expect(read.all == ["true", "true"] && response[option: Note.self] == "head")
        #expect(try await response.body.data() == Data("xxx".utf8))
    }

    @Test func `a streamed response that is truncated after its delivery is an error, and not retried`() async throws {
        let mock = MockLoader { request in
            let chunks = Chunks(2)
            return HTTPResponse(
                request: request, status: 200,
                body: HTTPResponseBody(length: 10) {
                    guard let chunk = chunks.next() else { throw HTTPError(.connectionLost, request: request) }
                    return chunk
                })
        }
        let response = try await RetryScene(mock, maximumRetries: 5).chain.load(.plain())
        await #expect(throws: HTTPError.self) { try await response.body.data() }
        #expect(mock.requests.count == 1)
    }

    @Test func `the streamed body of a retried response is released before the next attempt`() async throws {
        let dropped = Counter()
        let number = Counter()
        let mock = MockLoader { request in
            HTTPResponse(
                request: request, status: number.next() == 1 ? 503 : 200,
                body: HTTPResponseBody(length: nil, pull: { nil }, cancel: { _ = dropped.next() }))
        }
        let scene = RetryScene(mock, maximumRetries: 1)
        let response = try await scene.chain.load(.plain())
        #expect(dropped.value == 1 && response.status == 200)
        #expect(try await response.body.data().isEmpty)
    }

    @Test func `a validator ends a load whose status would be retried`() async {
        let stop = ClosureValidator(response: { response, _ in
            response.headers["X-Final"] == nil ? .nextValidator : .failChain(.validationFailed, "do not retry")
        })
        for (headers, sent) in [([:], 3), (["X-Final": "1"], 1)] as [(HTTPHeaders, Int)] {
            let scene = RetryScene(
                .answering(503, headers: headers), validators: [stop, DefaultValidator()], maximumRetries: 2)
            let result = await scene.load()
            #expect(scene.sent == sent && (result.error?.message == "do not retry") == (sent == 1))
        }
    }
}

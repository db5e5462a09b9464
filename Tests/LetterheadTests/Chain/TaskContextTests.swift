// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadResilience
import LetterheadTesting
import TestKit
import Testing

private enum Context {
    @TaskLocal static var mark = "none"
}

/// The priority and the task-local values of the caller reach all work for it, also through a link that creates a task.
@Suite(.timeLimit(.minutes(3))) struct TaskContextTests {
    private let journal = Journal()

    /// Notes the context that it is called in.
    private func note(_ place: String) {
        journal.write("\(place) \(Context.mark) \(Task.currentPriority == .high ? "high" : "other")")
    }

    private func transport() -> MockLoader {
        MockLoader { request in
            note("transport")
            return .ok(request, body: Data("[1]".utf8))
        }
    }

    /// Runs as a caller of high priority with a task-local value.
    private func asCaller<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await Context.$mark.withValue("mine") {
            try await Task(priority: .high) { try await work() }.value
        }
    }

    private static let links: [(name: String, link: @Sendable () -> any LoaderLink)] = [
        ("Autocancel", { Autocancel() }), ("ResetGuard", { ResetGuard() }), ("Deduplicate", { Deduplicate() }),
        ("Throttle", { Throttle(limit: 1) }), ("LimitRate", { LimitRate(5) }), ("Retry", { Retry() }),
        ("Deadline", { Deadline(.seconds(60)) }), ("FollowRedirects", { FollowRedirects() }),
        ("Authenticate", { Authenticate(.bearer { _ in "token" }) }),
        ("all", { ResetGuard() --> Autocancel() --> Deduplicate() --> Throttle(limit: 1) }),
    ]

    @Test(arguments: links.indices) func `a link passes on the priority and task-local values`(index: Int) async throws
    {
        let chain = Self.links[index].link() --> transport()
        _ = try await asCaller { try await chain.load(.plain { $0.scheme = "https" }) }
        #expect(journal.all == ["transport mine high"], "\(Self.links[index].name)")
    }

    @Test func `a client, its validators and its transformers have the priority and the task-local values`()
        async throws
    {
        let client = HTTPClient(
            transformers: [ModifyResponse { _ in note("transformer") }],
            validators: [
                ClosureValidator(response: { _, _ in
                    note("validator")
                    return .nextValidator
                })
            ], transport: transport())
        _ = try await asCaller { try await client.send(.plain()) }
        #expect(journal.all == ["transport mine high", "transformer mine high", "validator mine high"])
    }

    @Test func `a credential provider has those of the request that needs the credentials`() async throws {
        let request = HTTPRequest.plain { $0.scheme = "https" }
        let bearer = HTTPAuthentication.bearer(allowedOrigins: [try request.url()]) { _ in
            note("provider")
            return "token"
        }
        let chain = Authenticate(bearer) --> transport()
        _ = try await asCaller { try await chain.load(request) }
        #expect(journal.all == ["provider mine high", "transport mine high"])
    }

    @Test func `an alternate request has those of the load that sends it`() async throws {
        let refresh = ClosureValidator(
            sending: { original, _ in original.attemptNumber == 1 ? .plain(.put) : nil }, after: [200],
            onResponse: { _, _ in note("response") })
        let chain = Retry(validators: [refresh], Backoff(maximumRetries: 1)) --> transport()
        _ = try await asCaller { try await chain.load(.plain()) }
        #expect(
            journal.all == [
                "transport mine high", "transport mine high", "response mine high", "transport mine high",
            ])
    }

    @Test func `a load that synchronous code starts has them`() async throws {
        let chain = transport()
        try await asCaller {
            await withCheckedContinuation { continuation in
                chain.start(.plain()) { _ in
                    note("completion")
                    continuation.resume()
                }
            }
        }
        #expect(journal.all == ["transport mine high", "completion mine high"])
    }

    @Test(arguments: [true, false]) func `a streamed body is read with those of its reader`(isTracked: Bool)
        async throws
    {
        let chunks = Chunks(1)
        let mock = MockLoader { request in
            let body = HTTPResponseBody(length: nil) {
                note("pull")
                return chunks.next()
            }
            return HTTPResponse(request: request, status: .ok, body: body)
        }
        let chain: any HTTPLoader = isTracked ? Autocancel() --> mock : Deadline(.seconds(60)) --> mock
        let response = try await chain.load(.plain())
        _ = try await asCaller { try await response.body.data() }
        #expect(journal.all == ["pull mine high", "pull mine high"])
    }

    @Test(arguments: [true, false]) func `prefetched pages and pages of a pager have them`(
        prefetches: Bool
    ) async throws {
        let client = HTTPClient(environment: .of("https://h.test"), transport: transport())
        let template = TestEndpoint("n", answering: [Int].self).paginated()
        let settings = PageSettings(maximumPages: 2, prefetches: prefetches)
        _ = try await asCaller { try await client.pages(of: template, settings: settings).collect() }
        let pager = client.pager(of: template, settings: settings)
        _ = try await asCaller { (try await pager.next(), try await pager.next()) }
        #expect(journal.all == Array(repeating: "transport mine high", count: 4))
    }
}

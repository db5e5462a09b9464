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

    /// Runs as a caller of high priority with a task-local value, and requires that these places have them.
    private func expect(
        _ places: [String], _ comment: Comment? = nil, of work: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await Context.$mark.withValue("mine") { try await Task(priority: .high) { try await work() }.value }
        #expect(journal.all == places.map { "\($0) mine high" }, comment)
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
        try await expect(["transport"], "\(Self.links[index].name)") {
            _ = try await chain.load(.plain { $0.scheme = "https" })
        }
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
        try await expect(["transport", "transformer", "validator"]) { _ = try await client.send(.plain()) }
    }

    @Test func `a credential provider has those of the request that needs the credentials`() async throws {
        let request = HTTPRequest.plain { $0.scheme = "https" }
        let bearer = HTTPAuthentication.bearer(allowedOrigins: [try request.url()]) { _ in
            note("provider")
            return "token"
        }
        let chain = Authenticate(bearer) --> transport()
        try await expect(["provider", "transport"]) { _ = try await chain.load(request) }
    }

    @Test func `an alternate request has those of the load that sends it`() async throws {
        let refresh = ClosureValidator(
            sending: { original, _ in original.attemptNumber == 1 ? .plain(.put) : nil }, after: [200],
            onResponse: { _, _ in note("response") })
        let chain = Retry(validators: [refresh], Backoff(maximumRetries: 1)) --> transport()
        try await expect(["transport", "transport", "response", "transport"]) { _ = try await chain.load(.plain()) }
    }

    @Test func `a load that synchronous code starts has them`() async throws {
        let chain = transport()
        try await expect(["transport", "completion"]) {
            await withCheckedContinuation { continuation in
                chain.start(.plain()) { _ in
                    note("completion")
                    continuation.resume()
                }
            }
        }
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
        try await expect(["pull", "pull"]) { _ = try await response.body.data() }
    }

    @Test(arguments: [true, false])
    func `prefetched pages and pages of a pager have them`(prefetches: Bool) async throws {
        let client = HTTPClient(environment: .of("https://h.test"), transport: transport())
        let template = TestEndpoint("n", answering: [Int].self).paginated()
        let settings = PageSettings(maximumPages: 2, prefetches: prefetches)
        let pager = client.pager(of: template, settings: settings)
        try await expect(Array(repeating: "transport", count: 4)) {
            _ = try await client.pages(of: template, settings: settings).collect()
            for _ in 1...2 { _ = try await pager.next() }
        }
    }
}

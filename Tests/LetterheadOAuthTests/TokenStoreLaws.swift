// SPDX-License-Identifier: MIT
import Dispatch
import Foundation
import Letterhead
import LetterheadOAuth
import LetterheadTesting
import Synchronization

/// Checks the `OAuth2.TokenStore` laws with processes that use the tokens of one store. Each process creates the store
/// anew, because processes share nothing else.
///
/// - **Round trip**: saved tokens are loaded unchanged, in each process.
/// - **Renewal**: each refresh token reaches the server once, and no process is signed out.
/// - **Deletion**: a deletion removes all tokens, and a second deletion does no harm.
enum TokenStoreLaws {
    /// A broken law, and how it was broken.
    struct Violation: Error, Hashable {
        let law: String
        let reason: String

        init(_ law: String, _ reason: String) { (self.law, self.reason) = (law, reason) }
    }

    /// The tokens' member that tells a process where the check's server is.
    private static let serverMember = "letterhead_laws"
    /// How many requests each process sends. The server no longer accepts every third one's token.
    private static let requests = 12

    /// Checks a store and deletes its tokens.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - processes: how many processes take part.
    ///   - start: starts a process that calls ``takePart(with:)``, and returns after its end.
    /// - Throws: the first ``Violation``.
    static func check(
        _ store: any OAuth2.TokenStore, processes: Int, starting start: @escaping @Sendable () async throws -> Void
    ) async throws {
        let accepted = Atomic(0)
        let server = Mutex<MockOAuth2Server?>(nil)
        let running = try await MockOAuth2Server.start { _ in
            let number = accepted.add(1, ordering: .relaxed).newValue
            if number % 3 == 0 { server.withLock { $0?.revokeAccessTokens() } }
            return MockServer.Response()
        }
        server.withLock { $0 = running }
        // The server and its closure reference each other, and the server stops when it is released.
        defer { server.withLock { $0 = nil } }
        try await signIn(at: running, into: store)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<processes {
                group.addTask(executorPreference: OwnThread()) { try await start() }
            }
            try await group.waitForAll()
        }
        try checkRenewals(in: running.server.requests)
        guard accepted.load(ordering: .relaxed) > processes * requests else {
            throw Violation("renewal", "not every process has called takePart(with:)")
        }
        for _ in 1...2 { try await store.delete() }
        guard try await store.load() == nil else { throw Violation("deletion", "tokens remain after delete()") }
    }

    /// Sends requests that need the tokens of a store. Each process that a check starts calls it.
    static func takePart(with store: any OAuth2.TokenStore) async throws {
        guard let address = try await store.load()?.members[serverMember]?.string, let api = URL(string: address) else {
            throw Violation("round trip", "a process finds no tokens of the check")
        }
        var (successes, tries) = (0, 0)
        let authentication = authentication(api.appending(path: "token"), .storedTokens, store)
        while successes < requests {
            do {
                successes += try await status(of: api, signedBy: authentication) == .ok ? 1 : 0
            } catch {
                throw Violation("renewal", "a process was signed out: \(error)")
            }
            tries += 1
            guard tries < 10_000 else { throw Violation("renewal", "a process never receives current tokens") }
        }
    }

    /// Has the server issue tokens, and saves them with a member.
    private static func signIn(at server: MockOAuth2Server, into store: any OAuth2.TokenStore) async throws {
        let memory = OAuth2.MemoryTokenStore()
        let callback = server.url.appending(path: "callback")
        let grant = OAuth2.Grant.authorizationCode(
            endpoint: server.authorizationEndpoint, redirectURI: callback
        ) { try await server.signIn($0) }
        _ = try await status(of: server.url, signedBy: authentication(server.tokenEndpoint, grant, memory))
        guard var tokens = await memory.load() else { return }
        tokens.members[serverMember] = .string(server.url.absoluteString)
        try await store.save(tokens)
        var loaded = try await store.load()
        // A date format may have only whole seconds.
        if let date = loaded?.expiresAt, let saved = tokens.expiresAt, abs(date.timeIntervalSince(saved)) < 1 {
            loaded?.expiresAt = saved
        }
        guard loaded == tokens else { throw Violation("round trip", "load() does not return the saved tokens") }
    }

    private static func authentication(
        _ endpoint: URL, _ grant: OAuth2.Grant, _ store: any OAuth2.TokenStore
    ) -> HTTPAuthentication {
        .oauth2(
            client: OAuth2.Client(id: "client"), tokenEndpoint: endpoint, grant: grant, store: store,
            allowedOrigins: [endpoint], limit: 100_000)
    }

    private static func status(of url: URL, signedBy authentication: HTTPAuthentication) async throws -> HTTPStatus {
        var request = HTTPRequest(url: url)
        request.authentication = authentication
        return try await (Authenticate() --> HTTPClient.defaultTransport).load(request).status
    }

    /// Throws if a refresh token was sent more than once.
    private static func checkRenewals(in requests: [MockServer.Request]) throws {
        var seen: Set<String> = []
        for request in requests where request.path == "/token" {
            let form = AuthorizationServer.form(String(decoding: request.body, as: UTF8.self))
            if let token = form["refresh_token"], !seen.insert(token).inserted {
                throw Violation("renewal", "a refresh token reached the server twice")
            }
        }
    }
}

/// Runs the start of a process and the wait for its end. An exit test blocks the thread meanwhile, and the check's
/// server needs the other tasks' threads.
private final class OwnThread: TaskExecutor {
    private let queue = DispatchQueue(label: "letterhead.laws")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // The closure retains the executor while the job runs, and a job is enqueued once.
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

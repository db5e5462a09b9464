// SPDX-License-Identifier: MIT
import Dispatch
import LetterheadFoundation
import Letterhead
public import LetterheadOAuth
import Synchronization

/// Checks the `OAuth2.TokenStore` laws.
///
/// Write one test for each custom store. The check starts several processes at once, and all use one store's tokens.
/// Swift Testing's exit tests are such processes. Each creates the store anew, because processes share nothing else:
///
/// ```swift
/// @Test func `KeychainStore keeps the laws of a token store`() async throws {
///     try await TokenStoreLaws.check(KeychainStore(account: "laws"), processes: 8) {
///         await #expect(processExitsWith: .success) {
///             try await TokenStoreLaws.takePart(with: KeychainStore(account: "laws"))
///         }
///     }
/// }
/// ```
///
/// Exit tests exist where programs can start others, and therefore not on iOS, tvOS, watchOS and visionOS. Start any
/// program that calls ``takePart(with:)`` instead, and throw an error unless it succeeds.
///
/// The laws:
/// - **Round trip**: saved tokens are loaded unchanged, in each process.
/// - **Renewal**: each refresh token reaches the server once, and no process is signed out.
/// - **Deletion**: a deletion removes all tokens, and a second deletion does no harm.
public enum TokenStoreLaws {
    /// The tokens' member that tells a process where the check's server is.
    private static let serverMember = "letterhead_laws"
    /// How many requests each process sends. The server no longer accepts every third one's token.
    private static let requests = 12

    /// Checks a store and deletes its tokens.
    ///
    /// - Parameters:
    ///   - store: the store. It must not contain tokens that you need.
    ///   - processes: how many processes take part.
    ///   - start: starts a process that calls ``takePart(with:)``, and returns after its end.
    /// - Throws: ``LawViolations`` with all violations, an error from the store or `start`, or an error if the check's
    ///   server can't start.
    public static func check(
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
        var found = violations(in: running.server.requests)
        if accepted.load(ordering: .relaxed) <= processes * requests {
            found.append(LawViolation("renewal", nil, "not every process has called takePart(with:)"))
        }
        for _ in 1...2 { try await store.delete() }
        if try await store.load() != nil {
            found.append(LawViolation("deletion", nil, "load() returns tokens after delete()"))
        }
        try found.check()
    }

    /// Sends requests that need a store's tokens. Call it in each process that a check starts.
    ///
    /// - Parameter store: the store that the check uses.
    /// - Throws: ``LawViolations`` if the process doesn't find the check's tokens, or is signed out.
    public static func takePart(with store: any OAuth2.TokenStore) async throws {
        guard let address = try await store.load()?.members[serverMember]?.string, let api = URL(string: address) else {
            throw violation("round trip", "a process finds no tokens of the check")
        }
        var (successes, tries) = (0, 0)
        let authentication = authentication(api.appending(path: "token"), .storedTokens, store)
        while successes < requests {
            do {
                successes += try await status(of: api, signedBy: authentication) == .ok ? 1 : 0
            } catch {
                throw violation("renewal", "a process was signed out: \(error)")
            }
            tries += 1
            guard tries < 10_000 else { throw violation("renewal", "a process never receives current tokens") }
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
        guard loaded == tokens else { throw violation("round trip", "load() does not return the saved tokens") }
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

    /// Returns a violation for each refresh token that was sent more than once.
    private static func violations(in requests: [MockServer.Request]) -> [LawViolation] {
        var counts: [String: Int] = [:]
        for request in requests where request.path == "/token" {
            let form = PercentEncoding.formItems(of: String(decoding: request.body, as: UTF8.self))
            if let token = form.first(where: { $0.name == "refresh_token" }) { counts[token.value, default: 0] += 1 }
        }
        return counts.filter { $0.value > 1 }.map { token, count in
            LawViolation(
                "renewal", nil,
                "a refresh token reached the server \(count) times: run the closure of withLock(_:) in one process at a "
                    + "time")
        }
    }

    private static func violation(_ law: String, _ reason: String) -> LawViolations {
        LawViolations(violations: [LawViolation(law, nil, reason)])
    }
}

/// Runs the start of a process and the wait for its end. An exit test blocks the thread meanwhile, and the check's
/// server needs the other tasks' threads.
private final class OwnThread: TaskExecutor {
    private let queue = DispatchQueue(label: "letterhead.laws")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // The closure retains the executor while the job runs, and a job is enqueued once.
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadOAuth
import LetterheadTesting
import Synchronization
import TestKit
import Testing

/// A store that does what it is told to, or fails, and counts its changes without the lock.
private final class FickleStore: OAuth2.TokenStore {
    struct Failed: Error {}
    struct State {
        var tokens: OAuth2.Tokens?
        var failing: Set<String> = []
        var isLocked = false
        var changesWithoutLock = 0
    }

    let state: Mutex<State>
    init(_ tokens: OAuth2.Tokens? = nil) { state = Mutex(State(tokens: tokens)) }

    func load() async throws -> OAuth2.Tokens? { try run("load") { $0.tokens } }
    func save(_ tokens: OAuth2.Tokens) async throws { try run("save") { $0.change(to: tokens) } }
    func delete() async throws { try run("delete") { $0.change(to: nil) } }

    func withLock<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        state.withLock { $0.isLocked = true }
        defer { state.withLock { $0.isLocked = false } }
        return try await body()
    }

    private func run<Value: Sendable>(_ name: String, _ body: (inout State) -> Value) throws -> Value {
        try state.withLock { state in
            if state.failing.contains(name) { throw Failed() }
            return body(&state)
        }
    }
}

extension FickleStore.State {
    fileprivate mutating func change(to new: OAuth2.Tokens?) {
        tokens = new
        changesWithoutLock += isLocked ? 0 : 1
    }
}

/// A store that waits for a closure at the first save.
private final class SlowStore: OAuth2.TokenStore {
    let tokens = Observed<OAuth2.Tokens?>(nil)
    let deletions = Counter()
    let saving = OneShot<Void>()
    let wait: Mutex<(@Sendable () async -> Void)?>

    init(_ wait: (@Sendable () async -> Void)? = nil) { self.wait = Mutex(wait) }

    func load() async throws -> OAuth2.Tokens? { tokens.value }

    func delete() async throws {
        tokens.change { $0 = nil }
        deletions.next()
    }

    func save(_ new: OAuth2.Tokens) async throws {
        saving.set(())
        await wait.withLock { $0.take() }?()
        tokens.change { $0 = new }
    }
}

/// A store that does nothing in a task that is cancelled.
private final class PromptStore: OAuth2.TokenStore {
    let tokens = Observed<OAuth2.Tokens?>(nil)
    let deletions = Counter()

    func load() async throws -> OAuth2.Tokens? { tokens.value }

    func save(_ new: OAuth2.Tokens) async throws { tokens.change { $0 = new } }

    func delete() async throws {
        deletions.next()
        try Task.checkCancellation()
        tokens.change { $0 = nil }
    }
}

/// A store that another program changes between its loads: each load returns the next tokens, and then the last ones.
private final class ChangingStore: OAuth2.TokenStore {
    let loads: Mutex<[OAuth2.Tokens?]>
    let (saves, deletions) = (Counter(), Counter())

    init(_ loads: OAuth2.Tokens?...) { self.loads = Mutex(loads) }

    func load() async throws -> OAuth2.Tokens? { loads.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? nil } }
    func save(_ tokens: OAuth2.Tokens) async throws { saves.next() }
    func delete() async throws { deletions.next() }
}

@Suite(.timeLimit(.minutes(3))) struct TokenStoreTests {
    private let server = AuthorizationServer()
    private let clock = TestClock()
    private let date = Date(timeIntervalSince1970: 1_000_000)

    private func chain(_ store: any OAuth2.TokenStore, _ grant: OAuth2.Grant = .clientCredentials()) -> any HTTPLoader {
        server.state.withLock { state in
            state.good.insert("kept")
            state.refreshTokens.insert("r0")
        }
        return Authenticate(.testing(grant, store: store, clock: clock)) --> server
    }

    @Test func `stored tokens that have expired are refreshed`() async throws {
        let tokens = OAuth2.Tokens(accessToken: "kept", refreshToken: "r0", expiresAt: date.addingTimeInterval(-1))
        #expect(try await chain(OAuth2.MemoryTokenStore(tokens)).ask() == .ok)
        #expect(server.tokenForms.map { $0["grant_type"] } == ["refresh_token"])
    }

    @Test func `tokens that were replaced in the store in the meantime are used`() async throws {
        let store = OAuth2.MemoryTokenStore(OAuth2.Tokens(accessToken: "kept", refreshToken: "r0"))
        let chain = chain(store)
        _ = try await chain.ask()
        server.revokeAccessTokens()
        server.state.withLock { _ = $0.good.insert("newer") }
        await store.save(OAuth2.Tokens(accessToken: "newer", refreshToken: "r9"))
        #expect(try await chain.ask() == .ok)
        #expect(server.tokenForms.isEmpty)
    }

    @Test func `tokens that another process has renewed before this one receives the lock are used`() async throws {
        let old = OAuth2.Tokens(accessToken: "old", refreshToken: "r0", expiresAt: date.addingTimeInterval(-1))
        let store = ChangingStore(old, OAuth2.Tokens(accessToken: "kept", refreshToken: "r9"))
        #expect(try await chain(store, .storedTokens).ask() == .ok)
        #expect(server.tokenForms.isEmpty && store.saves.value == 0)
    }

    @Test func `a refusal deletes only the tokens that were refused`() async throws {
        let old = OAuth2.Tokens(accessToken: "old", refreshToken: "used", expiresAt: date.addingTimeInterval(-1))
        let store = ChangingStore(old, old, OAuth2.Tokens(accessToken: "kept", refreshToken: "r0"))
        #expect(try await chain(store, .storedTokens).ask() == .ok)
        #expect(server.tokenForms.count == 1 && store.deletions.value == 0)
        let signedOut = ChangingStore(old, old, nil)
        #expect(await chain(signedOut, .storedTokens).failing()?.reason == .loggedOut)
        #expect(signedOut.deletions.value == 0)
        let refused = ChangingStore(old)
        #expect(await chain(refused, .storedTokens).failing()?.reason == .loggedOut)
        #expect(refused.deletions.value == 1)
    }

    @Test(arguments: [1e300, -1e300, .infinity, -.infinity, .nan, Date.distantFuture.timeIntervalSince1970])
    func `any date that a store returns is limited`(seconds: Double) async throws {
        let tokens = OAuth2.Tokens(
            accessToken: "kept", refreshToken: "r0", expiresAt: Date(timeIntervalSince1970: seconds))
        #expect(try await chain(OAuth2.MemoryTokenStore(tokens)).ask() == .ok)
        #expect(server.tokenForms.count == (seconds > 0 ? 0 : 1))
        #expect(!"\(tokens)".contains("kept"))
    }

    @Test func `tokens that cannot be saved fail the waiting requests, and are saved and used the next time`()
        async throws
    {
        let store = FickleStore()
        store.state.withLock { $0.failing = ["save"] }
        let chain = chain(store)
        #expect(await chain.failing()?.reason == .store)
        store.state.withLock { $0.failing = [] }
        #expect(try await chain.ask() == .ok)
        #expect(server.tokenForms.count == 1)
        #expect(store.state.withLock { $0.tokens?.accessToken } == "a1")
    }

    @Test(arguments: ["save", "delete"], [true, false])
    func `what failed is repeated under the lock, unless another process has saved tokens since`(
        call: String, isOvertaken: Bool
    ) async throws {
        let old = OAuth2.Tokens(
            accessToken: "old", refreshToken: call == "save" ? "r0" : "used", expiresAt: date.addingTimeInterval(-1))
        let newer = OAuth2.Tokens(accessToken: "kept", refreshToken: "r9")
        let store = FickleStore(old)
        store.state.withLock { $0.failing = [call] }
        let chain = chain(store, .storedTokens)
        #expect(await chain.failing()?.reason == .store)
        store.state.withLock { $0 = FickleStore.State(tokens: isOvertaken ? newer : $0.tokens) }
        let failure = await chain.failing()
        #expect(failure?.reason == (call == "save" || isOvertaken ? nil : .loggedOut))
        #expect(server.tokenForms.count == 1)
        let (tokens, changes) = store.state.withLock { ($0.tokens, $0.changesWithoutLock) }
        #expect(tokens?.accessToken == (isOvertaken ? "kept" : call == "save" ? "a1" : nil) && changes == 0)
    }

    @Test(.timeLimit(.minutes(1))) func `a token request does not wait in a Throttle`() async throws {
        server.state.withLock { _ = $0.good.insert("a1") }
        var request = HTTPRequest(url: AuthorizationServer.api)
        request.throttling = .never
        let chain = Authenticate(.testing(.clientCredentials())) --> Throttle(limit: 0) --> server
        #expect(try await chain.load(request).status == .ok)
    }

    @Test func `tokens that cannot be loaded fail the waiting requests`() async throws {
        let store = FickleStore()
        store.state.withLock { $0.failing = ["load"] }
        #expect(await chain(store).failing()?.reason == .store)
        #expect(server.tokenForms.isEmpty)
    }

    @Test func `tokens that a reset cannot delete are never used again`() async throws {
        let store = FickleStore(OAuth2.Tokens(accessToken: "kept"))
        let chain = chain(store)
        _ = try await chain.ask()
        store.state.withLock { $0.failing = ["delete"] }
        await chain.reset()
        #expect(await chain.failing()?.reason == .store)
        store.state.withLock { $0.failing = ["save"] }
        #expect(await chain.failing()?.reason == .store)
        #expect(store.state.withLock { $0.tokens == nil && $0.changesWithoutLock == 0 })
        store.state.withLock { $0.failing = [] }
        #expect(try await chain.ask() == .ok)
        #expect(server.apiTokens == ["Bearer kept", "Bearer a1"])
    }

    @Test func `tokens that are being saved during a reset are deleted after the save`() async throws {
        let gate = OneShot<Void>()
        let store = SlowStore { await gate.value }
        let chain = chain(store)
        let load = Task { try await chain.ask() }
        await store.saving.value
        let reset = Task { await chain.reset() }
        let error = await #expect(throws: HTTPError.self) { try await load.value }
        #expect(error?.code == .cancelled)
        gate.set(())
        await reset.value
        #expect(store.tokens.value == nil)
        #expect(try await chain.ask() == .ok)
        #expect(server.apiTokens == ["Bearer a2"] && store.tokens.value?.accessToken == "a2")
    }

    @Test func `a store that awaits the reset of its chain while it saves keeps no tokens`() async throws {
        let store = SlowStore()
        let chain = chain(store)
        store.wait.withLock { $0 = { await chain.reset() } }
        let error = await #expect(throws: HTTPError.self) { try await chain.ask() }
        #expect(error?.code == .cancelled)
        await until { store.deletions.value == 2 }
        #expect(store.tokens.value == nil)
        #expect(try await firstStatus(of: chain) == .ok)
        #expect(server.apiTokens == ["Bearer a2"])
    }

    @Test func `a reset in a cancelled task deletes the tokens`() async throws {
        let store = PromptStore()
        let chain = chain(store)
        #expect(try await chain.ask() == .ok)
        let reset = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await chain.reset()
        }
        await reset.value
        await until { store.deletions.value == 1 }
        #expect(try await firstStatus(of: chain) == .ok)
        #expect(store.deletions.value == 1 && store.tokens.value?.accessToken == "a2")
    }

    /// The status after the end of a reset that was not awaited.
    private func firstStatus(of chain: any HTTPLoader) async throws -> HTTPStatus {
        while true {
            do { return try await chain.ask() } catch let error as HTTPError where error.code == .resetInProgress {
                await Task.yield()
            }
        }
    }
}

@Suite struct FileTokenStoreTests {
    private let directory = FileManager.default.temporaryDirectory
        .appendingPathComponent("letterhead-tokens-\(UUID().uuidString)")
    private let tokens = OAuth2.Tokens(
        accessToken: "a", refreshToken: "r", scope: ["x", "y"], expiresAt: Date(timeIntervalSince1970: 1_000_000.25))

    private func inStore(_ body: (OAuth2.FileTokenStore, URL) async throws -> Void) async throws {
        let url = directory.appendingPathComponent("deep/tokens.json")
        defer { try? FileManager.default.removeItem(at: directory) }
        try await body(OAuth2.FileTokenStore(url), url)
    }

    @Test func `only the owner may read the file, also after it is replaced, and no other file remains beside it`()
        async throws
    {
        try await inStore { store, url in
            for _ in 1...2 {
                try await store.save(tokens)
                let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
                try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: url.path)
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)
            #expect(names == ["tokens.json"])
        }
    }

    @Test(arguments: [0o620, 0o602, 0o666, 0o777])
    func `a file that others can write is refused until it is replaced`(permissions: Int) async throws {
        try await inStore { store, url in
            try await store.save(tokens)
            try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: url.path)
            let failure = await #expect(throws: HTTPAuthentication.Failure.self) { try await store.load() }
            #expect(failure?.description.contains("0600") == true)
            try await store.save(tokens)
            #expect(try await store.load() == tokens)
        }
    }

    @Test func `a file of another user is refused`() async throws {
        guard geteuid() == 0 else { return }  // Only root can give a file away.
        try await inStore { store, url in
            try await store.save(tokens)
            #expect(chown(url.path, 12_345, 12_345) == 0)
            let failure = await #expect(throws: HTTPAuthentication.Failure.self) { try await store.load() }
            #expect(failure?.description.contains("another user") == true)
        }
    }

    @Test(.timeLimit(.minutes(1))) func `a pipe, a directory and an endless file are refused`() async throws {
        try await inStore { store, url in
            try await store.save(tokens)
            try await store.delete()
            #expect(mkfifo(url.path, 0o600) == 0)
            await #expect(throws: HTTPAuthentication.Failure.self) { try await store.load() }
            await #expect(throws: HTTPAuthentication.Failure.self) {
                try await OAuth2.FileTokenStore(url.deletingLastPathComponent()).load()
            }
            await #expect(throws: HTTPAuthentication.Failure.self) {
                try await OAuth2.FileTokenStore(URL(filePath: "/dev/zero")).load()
            }
            #expect(unlink(url.path) == 0)
            try await store.save(OAuth2.Tokens(accessToken: Secret(String(repeating: "a", count: 1 << 20))))
            await #expect(throws: HTTPAuthentication.Failure.self) { try await store.load() }
        }
    }

    @Test func `without a file there are no tokens, and deleting them succeeds`() async throws {
        try await inStore { store, _ in
            #expect(try await store.load() == nil)
            try await store.save(tokens)
            try await store.delete()
            try await store.delete()
            #expect(try await store.load() == nil)
        }
    }

    @Test(arguments: ["", "{", "[]", #"{"access_token":7}"#])
    func `a file with other contents is an error, and not an empty store`(text: String) async throws {
        try await inStore { store, url in
            try await store.save(tokens)
            try Data(text.utf8).write(to: url)
            await #expect(throws: HTTPAuthentication.Failure.self) { try await store.load() }
        }
    }

    @Test func `a path that cannot be written is an error`() async throws {
        let store = OAuth2.FileTokenStore(URL(filePath: "/dev/null/tokens.json"))
        await #expect(throws: HTTPAuthentication.Failure.self) { try await store.save(tokens) }
        let failure = await #expect(throws: HTTPAuthentication.Failure.self) { try await store.withLock {} }
        #expect(failure?.message.contains("lock file") == true)
    }

    @Test func `the file contains seconds since 1970, and any number is read`() async throws {
        try await inStore { store, url in
            try await store.save(tokens)
            let document = try JSONDecoder().decode(JSONValue.self, from: try Data(contentsOf: url))
            #expect(document["expires_at"] == 1_000_000.25)
            try Data(#"{"access_token":"a","expires_at":1e300}"#.utf8).write(to: url)
            #expect(chmod(url.path, 0o600) == 0)
            #expect(try await store.load()?.expiresAt == Date(timeIntervalSince1970: 1e300))
        }
    }

    @Test func `a wait for the lock ends when its task is cancelled, or after a minute`() async throws {
        try await inStore { store, url in
            let clock = TestClock()
            let other = OAuth2.FileTokenStore(url, clock: clock)
            try await store.withLock {
                let wait = Task { try await other.withLock {} }
                await clock.waitForSleepers(1)
                wait.cancel()
                await #expect(throws: CancellationError.self) { try await wait.value }
                let late = OAuth2.FileTokenStore(url, clock: TestClock(isAutomatic: true))
                let failure = await #expect(throws: HTTPAuthentication.Failure.self) { try await late.withLock {} }
                #expect(failure?.reason == .unavailable)
            }
            try await other.withLock {}
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a reset waits two seconds for the lock of another process, and then deletes the tokens`() async throws {
        try await inStore { store, _ in
            try await store.save(tokens)
            let clock = TestClock()
            let chain = Authenticate(.testing(.storedTokens, store: store, clock: clock)) --> AuthorizationServer()
            try await store.withLock {
                let reset = Task { await chain.reset() }
                await clock.waitForSleepers(1)
                let held = try await store.load()
                clock.advance(by: .seconds(2))
                await reset.value
                let left = try await store.load()
                #expect(held == tokens && left == nil)
            }
        }
    }

    @Test func `a link in place of the lock file is not followed`() async throws {
        try await inStore { store, url in
            try await store.save(tokens)
            let target = url.deletingLastPathComponent().appendingPathComponent("target")
            #expect(symlink(target.path, url.path + ".lock") == 0)
            await #expect(throws: HTTPAuthentication.Failure.self) { try await store.withLock {} }
            #expect(!FileManager.default.fileExists(atPath: target.path))
        }
    }
}

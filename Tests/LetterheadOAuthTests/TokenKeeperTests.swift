// SPDX-License-Identifier: MIT
import Foundation
import LetterheadTesting
import Synchronization
import TestKit
import Testing

@testable import Letterhead
@testable import LetterheadOAuth

/// A store that waits for a gate at the first load.
private final class HeldStore: OAuth2.TokenStore {
    let (loads, deletions, gate) = (Counter(), Counter(), OneShot<Void>())
    let isHeld = Mutex(false)
    let overlaps = Counter()

    func load() async throws -> OAuth2.Tokens? {
        if isHeld.withLock({ $0 }) { overlaps.next() }
        guard loads.next() == 1 else { return nil }
        isHeld.withLock { $0 = true }
        await gate.value
        isHeld.withLock { $0 = false }
        return nil
    }

    func save(_ tokens: OAuth2.Tokens) async throws {}

    func delete() async throws {
        if isHeld.withLock({ $0 }) { overlaps.next() }
        deletions.next()
    }
}

@Suite(.timeLimit(.minutes(3))) struct TokenKeeperTests {
    private let store = HeldStore()

    private var keeper: TokenKeeper {
        TokenKeeper(store: store, grant: .clientCredentials(), clock: TestClock(), now: { Date() }, refreshAhead: .zero)
    }

    @Test func `a call in a cancelled task waits for the calls before it`() async throws {
        let (keeper, store) = (keeper, store)
        let first = Task { try await keeper.load() }
        await until { store.isHeld.withLock { $0 } }
        let reset = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await keeper.reset()
        }
        let later = Task { try await keeper.load() }
        for _ in 0..<50 { await Task.yield() }
        store.gate.set(())
        _ = try await (first.value, reset.value, later.value)
        #expect(store.loads.value == 2 && store.deletions.value > 0 && store.overlaps.value == 0)
    }

    @Test func `a fetch that was cancelled deletes no tokens`() async {
        let task = Task { [keeper] in
            withUnsafeCurrentTask { $0?.cancel() }
            try await keeper.delete()
        }
        await #expect(throws: HTTPAuthentication.Failure.self) { try await task.value }
        #expect(store.deletions.value == 0)
    }
}

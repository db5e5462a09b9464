// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadOAuth
import LetterheadTesting
import Testing

#if os(Linux) || os(macOS)
    /// A store as a user writes it, which does not lock.
    private struct OpenStore: OAuth2.TokenStore {
        let store: OAuth2.FileTokenStore

        init(_ name: String) { store = OAuth2.FileTokenStore(TokenStoreLawsTests.file(name)) }

        func load() async throws -> OAuth2.Tokens? { try await store.load() }
        func save(_ tokens: OAuth2.Tokens) async throws { try await store.save(tokens) }
        func delete() async throws { try await store.delete() }
    }

    @Suite(.timeLimit(.minutes(5)), .serialized) struct TokenStoreLawsTests {
        /// The same file in each process that this one starts, directly or not.
        static func file(_ name: String) -> URL {
            FileManager.default.temporaryDirectory.appendingPathComponent("letterhead-laws-\(getuid())/\(name).json")
        }

        @Test func `a program that starts meanwhile, and has copies of all descriptors, does not keep the lock`()
            async throws
        {
            let file = Self.file("copies-\(UUID().uuidString)")
            let lock = file.appendingPathExtension("lock")
            let store = OAuth2.FileTokenStore(file, clock: TestClock(isAutomatic: true))
            let copies = try await store.withLock {
                var (named, open) = (stat(), stat())
                #expect(lstat(lock.path, &named) == 0)
                return (0..<4096).filter { fstat($0, &open) == 0 && open.st_ino == named.st_ino }.map(dup)
            }
            #expect(copies.count == 1)
            try await store.withLock {}
            for copy in copies { close(copy) }
            try FileManager.default.removeItem(at: lock)
        }

        @Test func `processes that share a file send each refresh token once`() async throws {
            try await TokenStoreLaws.check(OAuth2.FileTokenStore(Self.file("shared")), processes: 8) {
                await #expect(processExitsWith: .success) {
                    try await TokenStoreLaws.takePart(with: OAuth2.FileTokenStore(TokenStoreLawsTests.file("shared")))
                }
            }
        }

        @Test func `users of one store in one process send each refresh token once`() async throws {
            let memory = OAuth2.MemoryTokenStore()
            try await TokenStoreLaws.check(memory, processes: 4) { try await TokenStoreLaws.takePart(with: memory) }
            try await TokenStoreLaws.check(OAuth2.FileTokenStore(Self.file("threads")), processes: 4) {
                try await TokenStoreLaws.takePart(with: OAuth2.FileTokenStore(Self.file("threads")))
            }
        }

        @Test func `a store that does not lock serves one user, and the check finds a second one`() async throws {
            try await TokenStoreLaws.check(OpenStore("open"), processes: 1) {
                try await TokenStoreLaws.takePart(with: OpenStore("open"))
            }
            let violation = await #expect(throws: TokenStoreLaws.Violation.self) {
                try await TokenStoreLaws.check(OpenStore("open"), processes: 4) {
                    try await TokenStoreLaws.takePart(with: OpenStore("open"))
                }
            }
            #expect(violation?.law == "renewal")
        }

        @Test func `a process that does not take part is a violation`() async throws {
            let violation = await #expect(throws: TokenStoreLaws.Violation.self) {
                try await TokenStoreLaws.check(OAuth2.MemoryTokenStore(), processes: 2) {}
            }
            #expect(violation?.reason.contains("takePart") == true)
        }

        @Test(.timeLimit(.minutes(1))) func `a process that ends while it holds the lock blocks no other one`()
            async throws
        {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                try await OAuth2.FileTokenStore(TokenStoreLawsTests.file("killed")).withLock {
                    _ = kill(getpid(), SIGKILL)
                }
            }
            let store = OAuth2.FileTokenStore(Self.file("killed"), clock: TestClock())
            #expect(try await store.withLock { true })
        }
    }
#endif

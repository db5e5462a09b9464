// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadTesting
import Testing

/// The links and the transport of this target use public declarations only, and keep the laws of the built-in ones.
@Suite(.timeLimit(.minutes(3))) struct LawsTests {
    @Test func `a logging link keeps the laws`() async throws {
        try await LoaderLaws(patience: .seconds(60), link: { LogMessages { _ in } }).check()
    }

    @Test func `a retry link keeps the laws`() async throws {
        try await LoaderLaws(patience: .seconds(60), link: { RetryFailures() }).check()
    }

    @Test func `a throttle keeps the laws`() async throws {
        try await LoaderLaws(patience: .seconds(60), link: { LimitLoads(limit: 4) }).check()
    }

    @Test func `a transport keeps the laws`() async throws {
        try await LoaderLaws(patience: .seconds(60), loader: { SocketTransport() }).check()
    }
}

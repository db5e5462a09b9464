// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadTesting
import TestKit
import Testing

@Suite(.timeLimit(.minutes(3))) struct ResetGuardTests {
    @Test(arguments: [ResetGuard(), Autocancel()] as [any LoaderLink])
    func `a load during a reset fails at once, and a later one works`(link: any LoaderLink) async throws {
        let slow = HeldReset()
        let mock = MockLoader { .ok($0) }
        let chain = link --> slow --> mock
        async let reset: Void = chain.reset()
        await slow.waitForResets(1)
        let request = try HTTPRequest.to("https://a.test")
        let error = await #expect(throws: HTTPError.self) { try await chain.load(request) }
        #expect(error?.code == .resetInProgress && error?.mayHaveBeenSent == false && mock.requests.isEmpty)
        slow.open()
        await reset
        #expect(try await chain.load(request).status == .ok)
    }

    @Test func `a reset during a reset does not reset again, and returns with the first`() async throws {
        let (resetGuard, slow) = (ResetGuard(), HeldReset())
        let chain = resetGuard --> slow --> MockLoader()
        let reset = { @Sendable in
            await chain.reset()
            return slow.isOpen
        }
        async let first = reset()
        await slow.waitForResets(1)
        let others = (0..<5).map { _ in Task { await reset() } }
        await until { resetGuard.waiting == 5 }
        #expect(slow.resets == 1)
        slow.open()
        #expect(await first)
        for other in others { #expect(await other.value) }
        #expect(slow.resets == 1)
        await chain.reset()
        #expect(slow.resets == 2)
    }
}

/// A link with a reset that lasts until it is told to end. A class, because the test and the chain share it.
final class HeldReset: LoaderLink {
    private let state = Observed((resets: 0, isOpen: false))
    var resets: Int { state.value.resets }
    var isOpen: Bool { state.value.isOpen }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        try await next.load(request)
    }

    func reset(next: any HTTPLoader) async {
        state.change { $0.resets += 1 }
        await state.wait { $0.isOpen }
        await next.reset()
    }

    func open() { state.change { $0.isOpen = true } }
    func waitForResets(_ count: Int) async { await state.wait { $0.resets >= count } }
}

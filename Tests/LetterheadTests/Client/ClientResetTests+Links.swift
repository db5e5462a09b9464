// SPDX-License-Identifier: MIT
import Foundation
import LetterheadResilience
import LetterheadTesting
import TestKit
import Testing

@testable import Letterhead

/// What links hold and store of an ended generation.
extension ClientResetTests {
    @Test func `a request of an ended generation obtains no credential`() async throws {
        let (identity, mock, calls) = (ClientIdentity(), MockLoader { .ok($0) }, Observed(0))
        var request = try HTTPRequest.to("https://a.test/").of(identity)
        request.authentication = .bearer { _ in
            calls.change { $0 += 1 }
            return "t"
        }
        identity.endGeneration()
        let sent = request
        let error = await #expect(throws: HTTPError.self) { try await (Authenticate() --> mock).load(sent) }
        #expect(error?.code == .cancelled && calls.value == 0)
    }

    /// Links that let one load pass.
    static var queues: [any LoaderLink] {
        [Throttle(limit: 1), LimitRate(1, per: .seconds(3_600), backoff: Backoff(clock: TestClock()))]
    }

    @Test(arguments: queues)
    func `a link of two clients ends the waits of the one that is reset`(link: any LoaderLink) async throws {
        let (held, one, other) = (HeldLoader(), ClientIdentity(), ClientIdentity())
        let chain = link --> held
        let start = { (path: String, client: ClientIdentity?) -> Task<HTTPResponse, any Error> in
            let request = try HTTPRequest.to("https://a.test" + path).of(client)
            return Task { try await chain.load(request) }
        }
        let waiting = { @Sendable in (link as? Throttle)?.waiting ?? (link as? LimitRate)?.waiting ?? 0 }
        let first = try start("/first", other)
        await held.waitForRunning(1)
        var loads: [Task<HTTPResponse, any Error>] = []
        for client in [one, other, nil] {
            loads.append(try start("/waiting", client))
            await until { [count = loads.count] in waiting() == count }
        }
        one.endGeneration()
        await chain.reset()
        await expectCancelled(loads[0])
        await expectCancelled(loads[2])
        held.open("/first")
        #expect(try await first.value.status == .ok)
        await held.waitForRunning(1)
        held.open("/waiting")
        #expect(try await loads[1].value.status == .ok)
    }

    @Test(arguments: queues)
    func `a request of an ended generation enters no queue`(link: any LoaderLink) async throws {
        let (held, identity) = (HeldLoader(), ClientIdentity())
        let chain = link --> held
        let first = Task { try await chain.load(HTTPRequest.to("https://a.test/first")) }
        await held.waitForRunning(1)
        let request = try HTTPRequest.to("https://a.test/").of(identity)
        identity.endGeneration()
        await expectCancelled(Task { try await chain.load(request) })
        held.open("/first")
        #expect(try await first.value.status == .ok && held.started == ["/first"])
    }

    @Test func `a rate limit that is reported to an ended generation is not applied`() async throws {
        let (clock, identity) = (TestClock(isAutomatic: true), ClientIdentity())
        let mock = MockLoader { .ok($0) }
            .then { request in
                identity.endGeneration()
                return HTTPResponse(request: request, status: .tooManyRequests, headers: ["Retry-After": "30"])
            }
        let chain = LimitRate(backoff: Backoff(clock: clock)) --> mock
        let request = try HTTPRequest.to("https://a.test/").of(identity)
        #expect(try await chain.load(request).status == .tooManyRequests)
        #expect(try await chain.load(HTTPRequest.to("https://a.test/")).status == .ok)
        #expect(clock.sleeps.isEmpty)
    }

    @Test(arguments: [false, true]) func `a cookie of an earlier generation is not stored`(hasFile: Bool) async throws {
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(path: "jar")
        let jar = hasFile ? CookieJar(file: file) : CookieJar()
        let (identity, gate, reached) = (ClientIdentity(), gate, reached)
        let chain =
            jar
            --> AnyLoader { request in
                reached.set(())
                await gate.value
                return HTTPResponse(request: request, status: .ok, headers: ["Set-Cookie": "id=1; Max-Age=60"])
            }
        let request = try HTTPRequest.to("https://a.test/").of(identity)
        let load = Task { try await chain.load(request) }
        await reached.value
        identity.endGeneration()
        await chain.reset()
        gate.set(())
        _ = try await load.value
        #expect(jar.cookies.isEmpty && !FileManager.default.fileExists(atPath: file.path))
    }
}

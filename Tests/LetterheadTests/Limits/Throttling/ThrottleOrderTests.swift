import Letterhead
import LetterheadTesting
import Testing

/// Several limits in one chain.
@Suite struct ThrottleOrderTests {
    @Test func `a throttle of all requests before a narrower limit is refused, and nothing is sent`() async throws {
        let narrow: [any LoaderLink] = [
            Throttle(limit: 2, per: .host), LimitRate(), Throttle(limit: 1, per: .key { $0.host ?? "" }),
            (ModifyRequest { _ in } --> LimitRate(10)).named("limits"), Throttle(per: .host).when { _ in true },
        ]
        for link in narrow {
            let mock = MockLoader { .ok($0) }
            let chains: [any HTTPLoader] = [
                Throttle(limit: 4) --> link --> mock,
                Throttle(limit: 4) --> (ModifyRequest { _ in } --> (link --> mock)),
                (Throttle(limit: 4) --> link).named("both") --> mock,
                Throttle(limit: 4) --> AnyLoader(link --> mock),
                Throttle(limit: 4) --> (ModifyRequest { _ in } --> AnyLoader(AnyLoader(link --> mock))),
            ]
            for chain in chains {
                let request = try HTTPRequest.to("https://a.test")
                let error = await #expect(throws: HTTPError.self) { try await chain.load(request) }
                #expect(error?.code == .invalidRequest && error?.message.contains("narrower scope") == true)
            }
            #expect(mock.requests.isEmpty)
        }
    }

    @Test func `a narrower limit before a throttle of all requests is allowed, as are limits of one scope`()
        async throws
    {
        let total = Throttle(limit: 4)
        let mock = MockLoader { .ok($0) }
        let chains: [any HTTPLoader] = [
            Throttle(limit: 2, per: .host) --> total --> mock, LimitRate() --> total --> mock,
            total --> LimitRate(100, by: .client) --> Throttle(limit: 2) --> mock,
            Throttle(limit: 2, per: .host) --> LimitRate() --> total --> mock, total --> mock,
        ]
        for chain in chains + chains {
            #expect(try await chain.load(try .to("https://a.test")).status == .ok)
        }
        // The loader below may change its type from load to load.
        let mixed = total --> LimitRate() --> mock
        await #expect(throws: HTTPError.self) { try await mixed.load(try .to("https://a.test")) }
        #expect(mock.requests.count == 2 * chains.count && total.running == 0)
    }

    @Test func `a throttle checks each chain below it, even if chains have the same type`() async throws {
        let mock = MockLoader { .ok($0) }
        let request = try HTTPRequest.to("https://a.test")
        let narrow = AnyLoader(Throttle(limit: 2, per: .host) --> mock)
        let total = Throttle(limit: 4)
        for _ in 1...2 {
            #expect(try await (total --> AnyLoader(mock)).load(request).status == .ok)
            #expect(try await (total --> ModifyRequest { _ in } --> AnyLoader(mock)).load(request).status == .ok)
            await #expect(throws: HTTPError.self) { try await (total --> narrow).load(request) }
            await #expect(throws: HTTPError.self) {
                try await (total --> ModifyRequest { _ in } --> narrow).load(request)
            }
        }
        #expect(mock.requests.count == 4)
    }
}

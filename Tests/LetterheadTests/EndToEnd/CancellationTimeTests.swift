// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Letterhead
    import LetterheadOAuth
    import LetterheadResilience
    import LetterheadTesting
    import TestKit
    import Testing

    /// How soon a cancelled request ends in each phase that it can wait in, on the real clock.
    @Suite(.timeLimit(.minutes(3)), .serialized)
    struct CancellationTimeTests {
        enum Phase: CaseIterable { case connect, response, body, throttle, rateLimit, retry, token, sharedLoad }

        @Test(arguments: Phase.allCases)
        func `a cancelled request ends within 100 milliseconds`(phase: Phase) async throws {
            let time = try await shortestTime(below: .milliseconds(100), of: 5) { try await self.time(toEnd: phase) }
            #expect(time < .milliseconds(100))
        }

        private func time(toEnd phase: Phase) async throws -> Duration {
            switch phase {
            case .connect:
                let hole = try #require(BlackHole())
                let attempts = hole.attempts
                return await time(once: { hole.attempts > attempts }) {
                    try await HTTPClient().send(HTTPRequest(url: hole.url))
                }
            case .response, .body, .token: return try await timeWithServer(phase)
            case .throttle:
                let (throttle, gate) = (Throttle(limit: 1), HeldLoader())
                let first = Task { try await (throttle --> gate).load(.plain()) }
                await gate.waitForRunning(1)
                let time = await self.time(once: { throttle.waiting == 1 }) {
                    _ = try await (throttle --> gate).load(.plain())
                }
                gate.open()
                _ = try await first.value
                return time
            case .rateLimit:
                let limit = LimitRate(1, per: .seconds(3600))
                let chain = limit --> MockLoader { .ok($0) }
                _ = try await chain.load(.plain())
                return await time(once: { limit.waiting == 1 }) { _ = try await chain.load(.plain()) }
            case .retry:
                let journal = Journal()
                let retrying = Backoff(.delayed(.seconds(3600)), maximumRetries: 1)
                let client = HTTPClient(retrying: retrying, transport: MockLoader.answering(503))
                    .onRetry { _ in journal.write("waits") }
                return await time(once: { !journal.all.isEmpty }) { try await client.send(HTTPRequest.plain()) }
            case .sharedLoad:
                let (link, gate) = (Deduplicate(), HeldLoader())
                let first = Task { try await (link --> gate).load(.plain()) }
                await gate.waitForRunning(1)
                let time = await self.time(once: { link.waiting == 2 }) { _ = try await (link --> gate).load(.plain()) }
                gate.open()
                _ = try await first.value
                return time
            }
        }

        /// The phases when a server does not send what the client waits for.
        private func timeWithServer(_ phase: Phase) async throws -> Duration {
            let server = try await MockServer.start { request in
                if request.path == "/body" { return MockServer.Response(chunks: AsyncStream { $0.yield(Data([1])) }) }
                try await Task.sleep(for: .seconds(3600))
                return MockServer.Response()
            }
            let environment = ServerEnvironment(baseURL: server.url)
            let journal = Journal()
            let time: Duration
            if phase == .body {
                time = await self.time(once: { !journal.all.isEmpty }) {
                    let client = HTTPClient(environment: environment)
                    for try await _ in try await client.stream(Get<Data>("body")).body { journal.write("arrived") }
                }
            } else {
                let oauth = HTTPAuthentication.oauth2(
                    client: OAuth2.Client(id: "app", secret: "s"), tokenEndpoint: server.url.appending(path: "token"),
                    grant: .clientCredentials(scope: []), allowedOrigins: [server.url])
                let client = HTTPClient(environment: environment, authentication: phase == .token ? oauth : nil)
                time = await self.time(once: { !server.requests.isEmpty }) { try await client.send(Get<Void>("slow")) }
                #expect(server.requests.map(\.path) == [phase == .token ? "/token" : "/slow"])
            }
            await server.stop()
            return time
        }

        /// The time from the cancellation to the end of a request that is waiting.
        private func time(
            once isWaiting: @Sendable () -> Bool, _ send: @escaping @Sendable () async throws -> Void
        ) async -> Duration {
            let task = Task { try await send() }
            await until(isWaiting)
            let time = await elapsed {
                task.cancel()
                let error = await #expect(throws: (any Error).self) { try await task.value }
                #expect(error is CancellationError || (error as? HTTPError)?.code == .cancelled)
            }
            return time
        }
    }
#endif

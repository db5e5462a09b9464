// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import Logging
import ServiceLifecycle
import ServiceLifecycleTestKit
import Synchronization
import Testing

@testable import LetterheadServiceLifecycle

@Suite(.timeLimit(.minutes(2)))
struct HTTPClientServiceTests {
    /// Responds to `/held` when it's released, and to anything else at once.
    private final class Upstream: Sendable {
        let arrived = AsyncStream<Void>.makeStream()
        let released = AsyncStream<Void>.makeStream()

        var transport: AnyLoader {
            AnyLoader { [self] request in
                guard request.path.string == "/held" else { return HTTPResponse(request: request, status: .ok) }
                arrived.continuation.yield()
                for await _ in released.stream { break }
                try Task.checkCancellation()
                return HTTPResponse(request: request, status: .ok)
            }
        }

        func waitForRequest() async { for await _ in arrived.stream { break } }
    }

    private let upstream = Upstream()

    private func service(_ limit: Duration = .seconds(60)) -> HTTPClientService {
        HTTPClientService(
            HTTPClient(environment: ServerEnvironment("https://a.test"), transport: upstream.transport), limit: limit)
    }

    private func get(_ path: RequestPath, over service: HTTPClientService) -> Task<HTTPStatus, any Error> {
        Task { try await service.client.send(Endpoint<HTTPResponse>(.get, path)).status }
    }

    @Test func `a service without requests ends at once`() async throws {
        let service = service()
        await testGracefulShutdown { trigger in
            async let run: Void = service.run()
            trigger.triggerGracefulShutdown()
            await run
        }
    }

    @Test func `a running request has time to end`() async throws {
        let service = service()
        let request = get("held", over: service)
        await upstream.waitForRequest()
        await testGracefulShutdown { trigger in
            async let run: Void = service.run()
            trigger.triggerGracefulShutdown()
            upstream.released.continuation.yield()
            await run
        }
        #expect(try await request.value == .ok)
    }

    @Test func `after its limit, a running request is cancelled`() async throws {
        let service = service(.milliseconds(20))
        let request = get("held", over: service)
        await upstream.waitForRequest()
        await testGracefulShutdown { trigger in
            async let run: Void = service.run()
            trigger.triggerGracefulShutdown()
            await run
        }
        let error = await #expect(throws: HTTPError.self) { try await request.value }
        #expect(error?.code == .cancelled)
    }

    @Test func `a shutdown resets nothing, and leaves the requests of the base client alone`() async throws {
        let count = ResetCount()
        let base = HTTPClient(
            environment: ServerEnvironment("https://a.test"), attemptLinks: count, transport: upstream.transport)
        let service = HTTPClientService(base, limit: .milliseconds(20))
        let held = Task { try await base.send(Endpoint<HTTPResponse>(.get, "held")).status }
        await upstream.waitForRequest()
        await testGracefulShutdown { trigger in
            async let run: Void = service.run()
            trigger.triggerGracefulShutdown()
            await run
        }
        upstream.released.continuation.yield()
        #expect(try await held.value == .ok && count.value.withLock { $0 } == 0)
    }

    @Test func `a request that the cancellation has missed isn't sent`() async throws {
        let (requests, sent) = (RunningRequests(), ResetCount())
        await requests.cancel()
        let error = await #expect(throws: HTTPError.self) {
            try await requests.load(
                HTTPRequest("https://a.test"),
                next: AnyLoader { request in
                    sent.value.withLock { $0 += 1 }
                    return HTTPResponse(request: request, status: .ok)
                })
        }
        #expect(error?.code == .cancelled && error?.mayHaveBeenSent == false && sent.value.withLock { $0 } == 0)
    }

    /// Counts the resets of the client that has it.
    private final class ResetCount: LoaderLink {
        let value = Mutex(0)

        func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
            try await next.load(request)
        }

        func reset(next: any HTTPLoader) async {
            value.withLock { $0 += 1 }
            await next.reset()
        }
    }

    @Test func `a streamed body counts until it has been read`() async throws {
        let client = HTTPClient(
            environment: ServerEnvironment("https://a.test"),
            transport: AnyLoader { request in
                let body = HTTPResponseBody(
                    length: nil,
                    pull: {
                        try await Task.sleep(for: .seconds(600)); return nil
                    })
                return HTTPResponse(request: request, status: .ok, body: body)
            })
        let service = HTTPClientService(client, limit: .milliseconds(20))
        let body = try await service.client.stream(Endpoint<HTTPResponse>(.get, "a")).body
        await testGracefulShutdown { trigger in
            async let run: Void = service.run()
            trigger.triggerGracefulShutdown()
            await run
        }
        let error = await #expect(throws: HTTPError.self) { try await body.data() }
        #expect(error?.code == .cancelled)
    }

    @Test func `a new request is refused, and nothing is sent`() async throws {
        let service = service()
        await testGracefulShutdown { trigger in
            async let run: Void = service.run()
            trigger.triggerGracefulShutdown()
            await run
        }
        let error = await #expect(throws: HTTPError.self) { try await get("a", over: service).value }
        #expect(error?.code == .shuttingDown && error?.mayHaveBeenSent == false)
    }

    @Test func `a cancelled service cancels its requests`() async throws {
        let service = service()
        let request = get("held", over: service)
        await upstream.waitForRequest()
        let run = Task { await service.run() }
        run.cancel()
        await run.value
        let error = await #expect(throws: HTTPError.self) { try await request.value }
        #expect(error?.code == .cancelled)
    }

    @Test func `the limit counts from the signal, so a server that waits for a request cannot delay a shutdown`()
        async throws
    {
        let service = service(.milliseconds(20))
        let server = WaitingServer(client: service.client)
        let group = ServiceGroup(services: [service, server, service.signal], logger: Logger(label: "test"))
        async let run: Void = group.run()
        await upstream.waitForRequest()
        await group.triggerGracefulShutdown()
        try await run
        #expect(await server.failure.value?.code == .cancelled)
    }

    @Test func `in a group, a service that stops earlier can still send`() async throws {
        let service = service()
        let last = LastRequest(client: service.client)
        let group = ServiceGroup(services: [service, last], logger: Logger(label: "test"))
        async let run: Void = group.run()
        await group.triggerGracefulShutdown()
        try await run
        #expect(await last.status.value == .ok)
    }
}

/// A server that doesn't stop before its request has ended.
private struct WaitingServer: Service {
    let client: HTTPClient
    let failure = Failure()

    actor Failure {
        private(set) var value: HTTPError?
        func set(_ value: HTTPError?) { self.value = value }
    }

    func run() async throws {
        let result = await Task { try await client.send(Endpoint<HTTPResponse>(.get, "held")) }.result
        if case .failure(let error) = result { await failure.set(error as? HTTPError) }
        try? await gracefulShutdown()
    }
}

/// A service that sends a request when it shuts down.
private struct LastRequest: Service {
    let client: HTTPClient
    let status = Status()

    actor Status {
        var value: HTTPStatus? { status }
        private var status: HTTPStatus?
        func set(_ status: HTTPStatus) { self.status = status }
    }

    func run() async throws {
        try await gracefulShutdown()
        await status.set(try await client.send(Endpoint<HTTPResponse>(.get, "last")).status)
    }
}

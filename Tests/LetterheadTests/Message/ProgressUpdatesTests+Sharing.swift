// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadStreaming
import LetterheadTesting
import TestKit
import Testing

/// Several updates for one request, and updates of sequences that end before their first request.
extension ProgressUpdatesTests {
    @Test func `all updates of a template receive the progress, and end`() async throws {
        let server = try await MockServer.start { _ in MockServer.Response(body: Data(count: 10)) }
        let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url))
        let (first, second, third) = (ProgressUpdates(), ProgressUpdates(), ProgressUpdates())
        let call = Task {
            try await client.send(
                Import().onProgress(first).onProgress(second).header("X-Trace", "1").onProgress(third))
        }
        for updates in [first, second, third] {
            let last = try await updates.all().last
            #expect(last == HTTPRequest.Progress(direction: .download, completedBytes: 10, totalBytes: 10))
        }
        _ = try await call.value
        await server.stop()
    }

    @Test func `all updates of a plain request end, and updates that are added twice receive each step once`()
        async throws
    {
        let (first, second) = (ProgressUpdates(), ProgressUpdates())
        var request = HTTPRequest()
        for updates in [first, second, first] { request.reportProgress(to: updates) }
        request.onProgress?(HTTPRequest.Progress(direction: .upload, completedBytes: 1, totalBytes: 2))
        // A request without a host is not sent.
        _ = try? await HTTPClient(transport: MockLoader()).send(request)
        for updates in [first, second] { #expect(try await updates.all().count == 1) }
        var options = HTTPRequestOptions()
        let both = [ProgressUpdates(), ProgressUpdates()]
        for updates in both { options.reportProgress(to: updates) }
        let template = TestEndpoint().with { $0.options = options }
        _ = try? await HTTPClient(transport: MockLoader()).send(template)
        for updates in both { for await _ in updates {} }
    }

    @Test func `updates that a link adds during a load do not replace those of the caller`() async throws {
        let (own, added) = (ProgressUpdates(), ProgressUpdates())
        let step = HTTPRequest.Progress(direction: .download, completedBytes: 1, totalBytes: 1)
        let mock = MockLoader { request in
            request.onProgress?(step)
            return try .ok(request, json: 1)
        }
        let client = HTTPClient(
            environment: .of("https://a.test"), links: ModifyRequest { $0.reportProgress(to: added) }, transport: mock)
        let call = Task { try await client.send(TestEndpoint().onProgress(own)) }
        for updates in [own, added] { #expect(try await updates.all() == [step]) }
        _ = try await call.value
    }

    @Test func `a client that is the transport of another one does not end its updates`() async throws {
        let step = HTTPRequest.Progress(direction: .download, completedBytes: 1, totalBytes: 1)
        let inner = HTTPClient(
            transport: MockLoader { request in
                request.onProgress?(step)
                return try .ok(request, json: 1)
            })
        let outer = MockLoader { request in
            _ = try await inner.send(request)
            return try await inner.send(request)
        }
        let updates = ProgressUpdates()
        let client = HTTPClient(environment: .of("https://a.test"), transport: outer)
        let call = Task { try await client.send(TestEndpoint().onProgress(updates)) }
        #expect(try await updates.all() == [step, step])
        _ = try await call.value
    }

    @Test(arguments: [
        PageSettings(maximumPages: -1), PageSettings(maximumItems: -1), PageSettings(maximumEmptyPages: -1),
        PageSettings(pageLimit: -1), PageSettings(delay: .seconds(-1)), PageSettings(deadline: .zero),
        PageSettings(maximumPages: 0), PageSettings(maximumItems: 0), PageSettings(deadline: .nanoseconds(1)),
    ])
    func `updates end with a sequence that ends before its first request`(settings: PageSettings) async {
        let mock = MockLoader { try .ok($0, json: [1]) }
        let client = HTTPClient(environment: .of("https://a.test"), transport: mock)
        let (first, second) = (ProgressUpdates(), ProgressUpdates())
        let numbers = TestEndpoint("numbers", answering: [Int].self).onProgress(first).paginated(size: 2).onProgress(
            second)
        let call = Task { try await client.items(of: numbers, settings: settings).collect() }
        for updates in [first, second] { for await _ in updates {} }
        _ = await call.result
        #expect(mock.requests.isEmpty || settings.deadline != nil)
    }

    @Test func `updates end with a pager or a sequence that cannot begin`() async {
        let mock = MockLoader { try .ok($0, json: [1]) }
        let client = HTTPClient(environment: .of("https://a.test"), transport: mock)
        let (first, second) = (ProgressUpdates(), ProgressUpdates())
        let numbers = TestEndpoint("numbers", answering: [Int].self).paginated(size: 2)
        let pager = client.pager(of: numbers.onProgress(first), settings: PageSettings(maximumPages: -1))
        await #expect(throws: HTTPError.self) { try await pager.next() }
        for await _ in first {}
        var pages = client.pages(of: numbers.onProgress(second)).makeAsyncIterator()
        await client.reset()
        await #expect(throws: HTTPError.self) { try await pages.next() }
        for await _ in second {}
        #expect(mock.requests.isEmpty)
    }

    @Test func `updates end with an event stream whose settings are invalid`() async {
        let mock = MockLoader { .ok($0) }
        let client = HTTPClient(environment: .of("https://a.test"), transport: mock)
        let updates = ProgressUpdates()
        let events = client.events(
            of: TestEndpoint().onProgress(updates), reconnecting: .whenClosed(Backoff(maximumRetries: -1)))
        let (_, error) = await events.allAndError()
        #expect((error as? HTTPError)?.code == .invalidRequest)
        for await _ in updates {}
        #expect(mock.requests.isEmpty)
    }
}

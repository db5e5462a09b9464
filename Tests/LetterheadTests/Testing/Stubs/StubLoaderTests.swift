// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadStreaming
import LetterheadTesting
import TestKit
import Testing

@Suite struct StubLoaderTests {
    private let stubs = StubLoader()
    private var client: HTTPClient { .over(stubs) }

    @Test func `a stub receives the template inside decorators and an AnyTemplate`() async throws {
        stubs.on(GetPerson.self) { Person(id: 7, login: $0.login) }
        let decorated = GetPerson(login: "ada").header("X-Trace", "1").timeout(.seconds(900)).query("a", "b")
        #expect(try await client.send(decorated) == Person(id: 7, login: "ada"))
        #expect(try await client.send(AnyTemplate(decorated).header("X", "2")) == Person(id: 7, login: "ada"))
        let calls = stubs.calls(of: GetPerson.self)
        #expect(calls.map(\.template.login) == ["ada", "ada"])
        #expect(calls[0].request.headers["X-Trace"] == "1" && calls.map(\.number) == [1, 2])
    }

    @Test func `a request carries its template, and nothing of it is sent`() throws {
        let request = try StandardRequestBuilder(GetPerson(login: "ada").header("A", "b")).request()
        #expect(request.template(as: GetPerson.self)?.login == "ada" && request.template(as: DeletePerson.self) == nil)
        #expect(try HTTPRequest("https://api.test/").template == nil && request.headers.map(\.name) == ["A"])
        #expect(!"\(request)".contains("GetPerson"))
    }

    @Test func `a request of a custom builder carries the template of the builder`() async throws {
        struct Plain: RequestBuilder {
            let template: GetPerson
            func request() throws(HTTPError) -> HTTPRequest { try HTTPRequest("https://api.test/other") }
        }
        stubs.on(GetPerson.self) { _ in .ada }
        #expect(try await SendableRequest(Plain(template: GetPerson(login: "a")), over: stubs).send() == .ada)
    }

    @Test func `values are encoded as the decoder of the client reads them`() async throws {
        struct Event: Codable, Sendable, Equatable {
            var startedAt: Date
            var ownerName: String
        }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let event = Event(startedAt: Date(timeIntervalSince1970: 1000), ownerName: "ada")
        stubs.on(Get<Event>.self) { _ in event }
        let client = HTTPClient.over(stubs, decoder: decoder)
        let (value, response) = try await client.sendWithResponse(Get<Event>("event"))
        #expect(value == event)
        #expect(response.body.buffered.map { String(decoding: $0, as: UTF8.self) }?.contains("owner_name") == true)
        let plist = HTTPClient.over(stubs, decoder: PropertyListDecoder())
        #expect(try await plist.send(Get<Event>("event")) == event)
    }

    @Test func `text, data, nothing and nil are bodies without an encoder`() async throws {
        stubs.on(Get<String>.self) { _ in "naïve" }
        stubs.on(Get<Data>.self) { _ in Data([1, 2]) }
        stubs.on(Get<Person?>.self) { _ in nil }
        stubs.on(Get<Void>.self) { _ in }
        #expect(try await client.send(Get<String>("a")) == "naïve")
        #expect(try await client.send(Get<Data>("a")) == Data([1, 2]))
        #expect(try await client.send(Get<Person?>("a")) == nil)
        try await client.send(Get<Void>("a"))
    }

    @Test func `a value that cannot be encoded is an error that names its type`() async throws {
        struct ReadOnly: Decodable, Sendable {}
        stubs.on(Get<ReadOnly>.self) { _ in ReadOnly() }
        let error = try await #require(throws: HTTPError.self) { _ = try await client.send(Get<ReadOnly>("a")) }
        #expect("\(error)".contains("the stub cannot encode ReadOnly, because it is not Encodable"))
    }

    @Test func `a failure is encoded and read from the error`() async throws {
        stubs.on(GetPerson.self) { _ in .failure(Refusal(reason: "gone"), status: .gone) }
        let error = try await #require(throws: HTTPError.self) { _ = try await client.send(GetPerson(login: "a")) }
        #expect(error.response?.status == .gone && error.failure(of: GetPerson.self) == Refusal(reason: "gone"))
        #expect(stubs.calls(of: GetPerson.self)[0].response?.status == .gone)
    }

    @Test func `an error of a stub is the error of the transport`() async throws {
        stubs.on(GetPerson.self) { _ in .error(.connectionLost, mayHaveBeenSent: false) }
        let error = try await #require(throws: HTTPError.self) { _ = try await client.send(GetPerson(login: "a")) }
        #expect(error.code == .connectionLost && !error.mayHaveBeenSent)
        #expect(stubs.calls(of: GetPerson.self)[0].error?.code == .connectionLost)
    }

    @Test func `pages are answered by number and by link`() async throws {
        stubs.on(ListPeople.self) { _ in .pages([[.ada], [.grace]]) }
        for pages in [ListPeople().paginated(), ListPeople().paginated(by: .linkHeader)] {
            var logins: [String] = []
            for try await person in client.items(of: pages) { logins.append(person.login) }
            #expect(logins == ["ada", "grace"])
        }
    }

    @Test func `the redirect of an endpoint is answered by a route, not by the stub of the endpoint`() async throws {
        stubs.on(GetPerson.self, times: 1) { _ in .status(.found, headers: ["Location": "/elsewhere"]) }
        stubs.on(.get("/elsewhere"), times: 1) { _ in .json(Person.grace) }
        #expect(try await client.send(GetPerson(login: "ada")) == .grace)
        try stubs.verify()
    }

    @Test func `the body of a call can be decoded, also when it can be sent only once`() async throws {
        stubs.on(CreatePerson.self) { .value($0.person, status: .created) }
        _ = try await client.send(CreatePerson(person: .ada))
        let pieces = AsyncStream<Data> { continuation in
            for piece in [#"{"id":2,"#, #""login":"grace"}"#] { continuation.yield(Data(piece.utf8)) }
            continuation.finish()
        }
        _ = try await client.send(CreatePerson(person: .ada).body(StreamBody { pieces }))
        let calls = stubs.calls(of: CreatePerson.self)
        #expect(try await calls[0].body(as: Person.self) == .ada)
        #expect(try await calls[1].body(as: Person.self) == .grace)
    }

    @Test func `a call is awaited without sleeping`() async throws {
        stubs.on(GetPerson.self) { _ in .ada }
        let client = client
        let task = Task { try await client.send(GetPerson(login: "late")) }
        #expect(try await stubs.waitForCalls(of: GetPerson.self).map(\.template.login) == ["late"])
        _ = try await task.value
        let never = Task { [stubs] in try await stubs.waitForCalls(of: DeletePerson.self) }
        never.cancel()
        await #expect(throws: CancellationError.self) { try await never.value }
    }

    @Test func `a stream arrives in its pieces`() async throws {
        stubs.on(Get<HTTPResponse>.self) { _ in .events([ServerSentEvent(data: "1"), ServerSentEvent(data: "2")]) }
        var data: [String] = []
        for try await event in client.events(of: Get<HTTPResponse>("news")) {
            data.append(event.data)
            if data.count == 2 { break }
        }
        #expect(data == ["1", "2"])
    }
}

@Suite struct FakedValueTests {
    @Test func `a test can create contexts of retries, redirects and needs`() throws {
        let request = try HTTPRequest("https://api.test/a")
        let response = HTTPResponse(request: request, status: .serviceUnavailable)
        let retry = Retry.Context(
            request: request, result: .success(response), strategy: .immediate, delay: .seconds(1))
        #expect(retry.description == "GET https://api.test/a: retried after 1 s")
        let redirect = RedirectPolicy.Redirect(request: request, status: .found, target: request)
        #expect(redirect.description.hasPrefix("302 Found from GET https://api.test/a"))
        let need = HTTPAuthentication.Need<String>(
            request: request, next: MockLoader(), previous: "old", isRefused: true)
        #expect(need.previous == "old")
    }

    @Test func `a test can report progress`() async {
        let updates = ProgressUpdates()
        updates.report(HTTPRequest.Progress(direction: .download, completedBytes: 1, totalBytes: 2))
        updates.finish()
        var fractions: [Double?] = []
        for await progress in updates { fractions.append(progress.fractionCompleted) }
        #expect(fractions == [0.5])
    }
}

// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadTesting
import TestKit
import Testing

@Suite struct ApplyEnvironmentTests {
    private struct Unavailable: Error {}

    private func load(_ link: ApplyEnvironment, _ change: (inout HTTPRequest) -> Void = { _ in }) async throws
        -> HTTPRequest
    {
        let mock = MockLoader { .ok($0) }
        let request = HTTPRequest().with { $0.path = "people" }.with(change)
        _ = try await (link --> mock).load(request)
        return try #require(mock.requests.first)
    }

    private let a = ServerEnvironment.of("https://a/api", headers: ["A": "1", "Accept": "a"], query: ["k": 1, "j": 2])
    private let b = ServerEnvironment.of("http://b:81", headers: ["B": "1"])

    @Test func `the environment adds what is missing in the request`() async throws {
        let request = try await load(ApplyEnvironment(a)) {
            $0[query: "k"] = "9"
            $0.headers["accept"] = "mine"
        }
        #expect(try request.urlString() == "https://a/api/people?k=9&j=2")
        #expect(request.headers == ["accept": "mine", "A": "1"])
    }

    @Test func `a request with a host keeps it`() async throws {
        let request = try await load(ApplyEnvironment(a)) { $0.host = "own" }
        #expect(try request.urlString() == "https://own/people" && request.headers.isEmpty)
    }

    @Test func `headers that are withheld from another origin are named in its error`() async throws {
        let client = HTTPClient(environment: a, transport: MockLoader { HTTPResponse(request: $0, status: 403) })
        for (url, isNamed) in [("https://own/people", true), ("https://a/people", false)] {
            let request = try HTTPRequest.to(url)
            let error = await #expect(throws: HTTPError.self) { try await client.send(request) }
            let rule =
                "the environment's A, Accept belong to https://a (to send them with this request, set them on it)"
            #expect(error?.message.contains("; headers were not sent: \(rule)") == isNamed, "\(error?.message ?? "")")
        }
    }

    @Test func `a request's own environment replaces it whole`() async throws {
        let request = try await load(ApplyEnvironment(a)) { $0.serverEnvironment = b }
        #expect(try request.urlString() == "http://b:81/people" && request.headers == ["B": "1"])
    }

    @Test func `a request whose environment is explicitly nil has no environment`() async {
        let error = await failure { try await load(ApplyEnvironment(a)) { $0.serverEnvironment = nil } }
        #expect(error?.code == .invalidRequest)
    }

    @Test func `without an environment, only the requests' own are applied`() async throws {
        let request = try await load(ApplyEnvironment()) { $0.serverEnvironment = b }
        #expect(request.host == "b")
    }

    @Test func `a closure is called at every load`() async throws {
        let count = Counter()
        let link = ApplyEnvironment(.provided { _ in .of("https://h\(count.next())") })
        #expect(try await load(link).host == "h1")
        #expect(try await load(link).host == "h2")
    }

    @Test func `a closure receives the request, and is not called if the request has its own environment`() async throws
    {
        let seen = Journal()
        let link = ApplyEnvironment(
            .provided { request in
                seen.write(request.path.string)
                return .of("https://h")
            })
        _ = try await load(link)
        _ = try await load(link) { $0.serverEnvironment = b }
        #expect(seen.all == ["people"])
    }

    @Test func `a request can bring its own closure, and a closure must not return another one`() async throws {
        let link = ApplyEnvironment(a)
        let own = ServerEnvironment.provided { _ in .of("https://own") }
        #expect(try await load(link) { $0.serverEnvironment = own }.host == "own")
        #expect(own == own && own != .provided { _ in .of("https://own") } && own.host == nil)
        let nested = ServerEnvironment.provided { _ in own }
        let error = await #expect(throws: HTTPError.self) { try await load(link) { $0.serverEnvironment = nested } }
        #expect(
            error?.code == .invalidRequest
                && error?.message.contains("must not return an environment with a closure") == true)
    }

    @Test func `a request's own closure does not change the environment of later requests`() async throws {
        let seen = Journal()
        // The environment of a request above ApplyEnvironment, as descriptions show it.
        let look = ModifyRequest { seen.write($0.withEnvironment.host ?? "none") }
        let client = HTTPClient(environment: a, links: look, transport: MockLoader { .ok($0) })
        var own = HTTPRequest()
        own.serverEnvironment = .provided { _ in .of("https://own") }
        _ = try await client.send(own)
        _ = try await client.send(HTTPRequest())
        #expect(seen.all == ["none", "a"])
    }

    @Test func `an error of the closure fails the load, and nothing is sent`() async {
        let mock = MockLoader { .ok($0) }
        let chain = ApplyEnvironment(.provided { _ in throw Unavailable() }) --> mock
        #expect(await failure { try await chain.load(HTTPRequest()) }?.underlying is Unavailable)
        #expect(mock.requests.isEmpty)
    }

    @Test func `the identity of the request does not change`() async throws {
        let request = HTTPRequest()
        let response = try await (ApplyEnvironment(a) --> MockLoader { .ok($0) }).load(request)
        #expect(response.request.id == request.id)
    }
}

// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadTesting
import Synchronization
import TestKit
import Testing

/// What links have noted, in order. A class, because all links of a chain write into one.
private final class Trail: Sendable {
    private let marks = Mutex<[String]>([])
    var all: [String] { marks.withLock { $0 } }
    func note(_ mark: String) { marks.withLock { $0.append(mark) } }
}

private struct Visit: LoaderLink, CustomStringConvertible {
    let name: String
    let trail: Trail
    var description: String { name }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        trail.note("\(name) down")
        let response = try await next.load(request)
        trail.note("\(name) up")
        return response
    }

    func reset(next: any HTTPLoader) async {
        trail.note("\(name) reset")
        await next.reset()
    }
}

private struct End: HTTPLoader, CustomStringConvertible {
    let trail: Trail
    var description: String { "end" }
    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        trail.note("end")
        return HTTPResponse(request: request, status: 200)
    }
    func reset() async { trail.note("end reset") }
}

/// A link with a life, to be seen when it ends.
private final class Living: LoaderLink {
    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        try await next.load(request)
    }
}

private struct Through: LoaderLink {
    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        try await next.load(request)
    }
}

@Suite struct LoaderChainTests {
    private let trail = Trail()
    private func link(_ name: String) -> Visit { Visit(name: name, trail: trail) }
    private var end: End { End(trail: trail) }
    private let none: Visit? = nil

    private func visits(_ loader: any HTTPLoader) async throws -> [String] {
        _ = try await loader.load(HTTPRequest())
        return trail.all.filter { !$0.hasSuffix(" up") }
    }

    @Test func `a request passes through the links in order, and the response in reverse order`()
        async throws
    {
        let chain = link("a") --> link("b") --> link("c") --> end
        _ = try await chain.load(HTTPRequest())
        #expect(trail.all == ["a down", "b down", "c down", "end", "c up", "b up", "a up"])
    }

    @Test func `links that only forward do not change the request`() async throws {
        let mock = MockLoader { .ok($0) }
        let request = try HTTPRequest.to("https://h/a%2Fb?x=1&x=2", method: .put)
        _ = try await (Through() --> Through() --> Through() --> mock).load(request)
        let seen = try #require(mock.requests.first)
        #expect(seen.id == request.id)
        #expect("\(seen)" == "\(request)")
    }

    @Test func `the operator of a chain binds tighter than ??`() async throws {
        let own: (any HTTPLoader)? = nil
        let chain = own ?? link("a") --> end
        #expect(try await visits(chain) == ["a down", "end"])
    }

    @Test func `a link that is nil is omitted at any position`() throws {
        #expect("\(none --> end)" == "end")
        #expect("\(link("a") --> none --> end)" == "a --> end")
        #expect("\(none --> link("a") --> end)" == "a --> end")
        let alone = link("a") --> (none as (any LoaderLink)?)
        #expect(try "\(#require(alone))" == "a")
    }

    @Test func `the compiler infers an optional type only if a link is optional`() {
        func type<Value>(of _: Value) -> ObjectIdentifier { ObjectIdentifier(Value.self) }
        let (first, second) = (PrintLoader { _ in }, Retry())
        let (optional, loader): ((any LoaderLink)?, any HTTPLoader) = (first, MockLoader())
        let links = first --> second
        let erased: any LoaderLink = first
        let three = first --> second --> FollowRedirects()
        let (left, right) = (optional --> second, first --> optional)
        let both = optional --> optional
        let chains = [
            type(of: first --> loader), type(of: optional --> loader), type(of: first --> MockLoader()),
            type(of: links --> MockLoader()), type(of: (optional == nil ? first : nil) --> loader),
            type(of: [links, first, erased --> second] --> loader),
            type(of: first --> second --> optional --> FollowRedirects() --> MockLoader()),
        ]
        // Written types, because a function with a generic parameter opens a variable of an existential type.
        for found in [
            type(of: links as any LoaderLink), type(of: three as any LoaderLink), type(of: erased --> second),
            type(of: links --> three),
        ] {
            #expect(found == ObjectIdentifier((any LoaderLink).self))
        }
        for found in [type(of: left), type(of: right), type(of: both)] {
            #expect(found == ObjectIdentifier((any LoaderLink)?.self))
        }
        for found in chains { #expect(found == ObjectIdentifier((any HTTPLoader).self)) }
        let chosen = second.when(otherwise: links) { _ in true }
        #expect("\(chosen)" == "When(Retry | otherwise: PrintLoader --> Retry)")
    }

    @Test func `two links make a link`() async throws {
        let pair = link("a") --> link("b")
        #expect(try await visits(pair --> end) == ["a down", "b down", "end"])
    }

    @Test func `two optional links make an optional link`() throws {
        let some: (any LoaderLink)? = link("a")
        let missing: (any LoaderLink)? = nil
        #expect((missing --> missing) == nil)
        #expect("\(try #require(some --> missing))" == "a")
        #expect("\(try #require(missing --> some))" == "a")
        #expect("\(try #require(some --> some))" == "a --> a")
    }

    @Test func `however links are joined, the chain is the same`() async throws {
        let left = (link("a") --> link("b")) --> link("c")
        let right = link("a") --> (link("b") --> link("c"))
        #expect("\(left --> end)" == "a --> b --> c --> end")
        #expect("\(right --> end)" == "a --> b --> c --> end")
        #expect(try await visits(left --> end) == ["a down", "b down", "c down", "end"])
    }

    @Test func `a chain is a loader, and can be the next loader of a link`() async throws {
        let chain = link("b") --> end
        #expect("\(link("a") --> chain)" == "a --> b --> end")
        #expect(try await visits(link("a") --> chain) == ["a down", "b down", "end"])
    }

    @Test func `a chain prints its own composition`() {
        let chain =
            PrintLoader { _ in } --> ApplyEnvironment(.of("https://h")) --> ModifyRequest { _ in } --> MockLoader()
        #expect("\(chain)" == "PrintLoader --> ApplyEnvironment --> ModifyRequest --> MockLoader")
    }

    @Test func `a reset reaches every link once`() async {
        await (link("a") --> link("b") --> link("c") --> end).reset()
        #expect(trail.all == ["a reset", "b reset", "c reset", "end reset"])
    }

    @Test func `a reset reaches the loader after joined links once`() async {
        await ((link("a") --> link("b")) --> link("c") --> end).reset()
        #expect(trail.all == ["a reset", "b reset", "c reset", "end reset"])
    }

    @Test func `one link can be part of two chains`() async throws {
        let shared = link("shared")
        let first = MockLoader { .ok($0) }
        let second = MockLoader { .ok($0) }
        let request = try HTTPRequest.to("https://h")
        _ = try await (shared --> first).load(request)
        _ = try await (shared --> second).load(request)
        #expect(first.requests.count == 1)
        #expect(second.requests.count == 1)
    }

    @Test func `links are released with their chain`() async throws {
        weak var first: Living?
        weak var second: Living?
        do {
            let links = (Living(), Living())
            (first, second) = links
            let chain = links.0 --> links.1 --> MockLoader { .ok($0) }
            _ = try await chain.load(HTTPRequest.to("https://h"))
            #expect(first != nil)
        }
        #expect(first == nil)
        #expect(second == nil)
    }

    @Test func `a thousand concurrent loads each receive their own response`() async throws {
        let chain = Through() --> ModifyRequest { $0[query: "n"] = $0.path.string } --> MockLoader { .ok($0) }
        let wrong = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<1000 {
                var request = HTTPRequest()
                request.host = "h"
                request.path = "\(number)"
                let sent = request
                group.addTask {
                    let response = try await chain.load(sent)
                    return response.request.id == sent.id && response.request[query: "n"] == "\(number)"
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 0 : 1) }
        }
        #expect(wrong == 0)
    }
}

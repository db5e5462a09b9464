// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadTesting
import Synchronization
import Testing

/// What links have noted, in order. A class, because all links of a chain write into one.
private final class Trail: Sendable {
    private let marks = Mutex<[String]>([])
    var all: [String] { marks.withLock { $0 } }
    func note(_ mark: String) { marks.withLock { $0.append(mark) } }
    func clear() { marks.withLock { $0 = [] } }
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

@Suite struct LoaderChainTests {
    private let trail = Trail()
    private func link(_ name: String) -> Visit { Visit(name: name, trail: trail) }
    private var end: End { End(trail: trail) }
    private let none: Visit? = nil

    @Test func `however links are joined, requests and resets pass in order, and responses in reverse order`()
        async throws
    {
        let (a, b, c) = (link("a"), link("b"), link("c"))
        let flat: any HTTPLoader = a --> b --> c --> end
        let left: any HTTPLoader = (a --> b) --> c --> end
        let right: any HTTPLoader = a --> (b --> c) --> end
        let nested: any HTTPLoader = a --> (b --> (c --> end))
        let passed = ["a down", "b down", "c down", "end", "c up", "b up", "a up"]
        for chain in [flat, left, right, nested] {
            trail.clear()
            _ = try await chain.load(HTTPRequest())
            await chain.reset()
            #expect(trail.all == passed + ["a reset", "b reset", "c reset", "end reset"])
            #expect("\(chain)" == "a --> b --> c --> end")
        }
    }

    @Test func `the operator of a chain binds tighter than ??`() {
        let own: (any HTTPLoader)? = nil
        let chain = own ?? link("a") --> end
        #expect("\(chain)" == "a --> end")
    }

    @Test func `a link that is nil is omitted at any position`() throws {
        #expect("\(none --> end)" == "end")
        #expect("\(link("a") --> none --> end)" == "a --> end")
        #expect("\(none --> link("a") --> end)" == "a --> end")
        let alone = link("a") --> (none as (any LoaderLink)?)
        #expect(try "\(#require(alone))" == "a")
        let (some, missing): ((any LoaderLink)?, (any LoaderLink)?) = (link("a"), nil)
        #expect((missing --> missing) == nil)
        #expect("\(try #require(some --> missing))" == "a")
        #expect("\(try #require(missing --> some))" == "a")
        #expect("\(try #require(some --> some))" == "a --> a")
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
}

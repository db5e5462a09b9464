// SPDX-License-Identifier: MIT
@testable import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// Notes its loads and resets, in a journal that links may share.
private struct Note: LoaderLink, CustomStringConvertible {
    let description: String
    let journal: Journal

    init(_ name: String, _ journal: Journal = Journal()) { (description, self.journal) = (name, journal) }

    var loads: Int { journal.all.count { $0 == "\(description) down" } }
    var resets: Int { journal.all.count { $0 == "\(description) reset" } }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        journal.write("\(description) down")
        let response = try await next.load(request)
        journal.write("\(description) up")
        return response
    }

    func reset(next: any HTTPLoader) async {
        journal.write("\(description) reset")
        await next.reset()
    }
}

/// A link with a life, to be seen when it ends.
private final class Living: LoaderLink {
    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        try await next.load(request)
    }
}

private enum Lane: HTTPRequestOption {
    static let defaultOptionValue: String? = nil
}

private enum Marked: HTTPRequestOption {
    static let defaultOptionValue = true
}

private struct Odd: Error {}

private func request(_ lane: String? = nil) -> HTTPRequest {
    HTTPRequest().with { ($0.host, $0[option: Lane.self]) = ("a.test", lane) }
}

@Suite struct LoaderChainTests {
    private let a = Note("a")
    private let end = MockLoader { .ok($0) }
    private let none: Note? = nil

    @Test func `however links are joined, requests and resets pass in order, and responses in reverse order`()
        async throws
    {
        let journal = Journal()
        let (a, b, c) = (Note("a", journal), Note("b", journal), Note("c", journal))
        let flat: any HTTPLoader = a --> b --> c --> end
        let left: any HTTPLoader = (a --> b) --> c --> end
        let right: any HTTPLoader = a --> (b --> c) --> end
        let nested: any HTTPLoader = a --> (b --> (c --> end))
        let passed = ["a down", "b down", "c down", "c up", "b up", "a up", "a reset", "b reset", "c reset"]
        for (count, chain) in [flat, left, right, nested].enumerated() {
            _ = try await chain.load(request())
            await chain.reset()
            #expect(Array(journal.all.dropFirst(passed.count * count)) == passed && end.requests.count == count + 1)
            #expect("\(chain)" == "a --> b --> c --> MockLoader")
        }
    }

    @Test func `the operator of a chain binds tighter than ??`() {
        let own: (any HTTPLoader)? = nil
        let chain = own ?? a --> end
        #expect("\(chain)" == "a --> MockLoader")
    }

    @Test func `a link that is nil is omitted at any position`() throws {
        #expect("\(none --> end)" == "\(end)" && "\(a --> none --> end)" == "a --> MockLoader")
        #expect("\(none --> a --> end)" == "a --> MockLoader")
        let alone = a --> (none as (any LoaderLink)?)
        #expect(try "\(#require(alone))" == "a")
        let (some, missing): ((any LoaderLink)?, (any LoaderLink)?) = (a, nil)
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
        ] { #expect(found == ObjectIdentifier((any LoaderLink).self)) }
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
        #expect(first == nil && second == nil)
    }
}

@Suite struct WhenTests {
    private let link = Note("link")
    private let other = Note("other")
    private let below = Note("below")
    private let mock = MockLoader { .ok($0) }

    @Test func `the link runs if the condition holds`() async throws {
        let chain = link.when(otherwise: other) { $0.method == .get } --> below --> mock
        let post = request().with { $0.method = .post }
        for request in [request(), post, post] { _ = try await chain.load(request) }
        #expect(link.loads == 1 && other.loads == 2 && below.loads == 3)
    }

    @Test func `a request opts out of a link by an option`() async throws {
        let chain = link.when(Marked.self) --> mock
        _ = try await chain.load(request().with { $0[option: Marked.self] = false })
        #expect(link.loads == 0)
        _ = try await chain.load(request())
        #expect(link.loads == 1)
    }

    @Test func `a condition that throws fails the load`() async throws {
        let chain = link.when { _ in throw Odd() } --> mock
        #expect(await failure { try await chain.load(request()) }?.underlying is Odd && mock.requests.isEmpty)
    }
}

@Suite struct LoaderWhenTests {
    @Test func `a loader with a condition responds in place of the rest of the chain, and is reset once`() async throws
    {
        let (inside, below, mock) = (Note("inside"), Note("below"), MockLoader { .ok($0) })
        let other = inside --> MockLoader { HTTPResponse(request: $0, status: .accepted) }
        let chain = other.when { $0.host == "local.test" } --> below --> mock
        #expect(try await chain.load(request().with { $0.host = "local.test" }).status == .accepted)
        #expect(below.loads == 0)
        #expect(try await chain.load(request()).status == .ok)
        #expect(inside.loads == 1 && below.loads == 1)
        await chain.reset()
        #expect(inside.resets == 1 && below.resets == 1)
        #expect("\(chain)" == "When(inside --> MockLoader) --> below --> MockLoader")
    }
}

@Suite struct AroundTests {
    private let part = Note("part")
    private let below = Note("below")

    @Test func `the closure calls the contained link or skips it`() async throws {
        let chain =
            part.around { try await $0[option: Lane.self] == nil ? $2.load($0) : $1.load($0) }
            --> below --> MockLoader { .ok($0) }
        for lane in ["a", nil, nil] { _ = try await chain.load(request(lane)) }
        #expect(part.loads == 1 && below.loads == 3)
        await chain.reset()
        #expect(part.resets == 1 && below.resets == 1)
    }
}

@Suite struct ChainDescriptionTests {
    private let mock = MockLoader()

    @Test func `a chain prints itself on one line`() {
        let chain =
            Throttle(limit: 1).when(otherwise: Note("a") --> Note("b")) { _ in true }
            --> Note("c").named("group") --> Note("d").when { _ in true } --> Throttle() --> mock
        #expect(
            "\(chain)"
                == "When(Throttle(1) | otherwise: a --> b) --> group(c) --> When(d) --> Throttle --> MockLoader")
    }
}

@Suite struct BranchedResetTests {
    @Test func `every link of a branched chain is reset`() async throws {
        let links = (0..<6).map { Note("\($0)") }
        let chain =
            links[0] --> (links[1] --> links[2]).when(otherwise: links[1]) { _ in true }
            --> links[3].named("g").when(otherwise: links[4]) { _ in true } --> links[5] --> MockLoader()
        await chain.reset()
        // A link is reset once for each of its positions, which does no harm.
        #expect(links.map(\.resets) == [1, 2, 1, 1, 1, 1])
    }
}

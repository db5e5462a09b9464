// SPDX-License-Identifier: MIT
@testable import Letterhead
import LetterheadTesting
import Synchronization
import Testing

/// Notes its loads and resets. A class, because the test and the chain share it.
private final class Note: LoaderLink, CustomStringConvertible {
    private let counts = Mutex((loads: 0, resets: 0))
    let description: String

    init(_ name: String = "Note") { description = name }

    var loads: Int { counts.withLock { $0.loads } }
    var resets: Int { counts.withLock { $0.resets } }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        counts.withLock { $0.loads += 1 }
        return try await next.load(request)
    }

    func reset(next: any HTTPLoader) async {
        counts.withLock { $0.resets += 1 }
        await next.reset()
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
    var request = HTTPRequest()
    request.host = "a.test"
    request[option: Lane.self] = lane
    return request
}

@Suite struct WhenTests {
    private let link = Note("link")
    private let other = Note("other")
    private let below = Note("below")
    private let mock = MockLoader { .ok($0) }

    @Test func `the link runs if the condition holds`() async throws {
        let chain = link.when(otherwise: other) { $0.method == .get } --> below --> mock
        var post = request()
        post.method = .post
        for request in [request(), post, post] { _ = try await chain.load(request) }
        #expect(link.loads == 1 && other.loads == 2 && below.loads == 3)
    }

    @Test func `a request opts out of a link by an option`() async throws {
        let chain = link.when(Marked.self) --> mock
        var out = request()
        out[option: Marked.self] = false
        _ = try await chain.load(out)
        #expect(link.loads == 0)
        _ = try await chain.load(request())
        #expect(link.loads == 1)
    }

    @Test func `a condition that throws fails the load`() async throws {
        let chain = link.when { _ in throw Odd() } --> mock
        let error = await #expect(throws: HTTPError.self) { try await chain.load(request()) }
        #expect(error?.underlying is Odd && mock.requests.isEmpty)
    }
}

@Suite struct LoaderWhenTests {
    @Test func `a loader with a condition responds in place of the rest of the chain, and is reset once`() async throws
    {
        let (inside, below, mock) = (Note("inside"), Note("below"), MockLoader { .ok($0) })
        let other = inside --> MockLoader { HTTPResponse(request: $0, status: .accepted) }
        let chain = other.when { $0.host == "local.test" } --> below --> mock
        var local = request()
        local.host = "local.test"
        #expect(try await chain.load(local).status == .accepted)
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

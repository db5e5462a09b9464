// SPDX-License-Identifier: MIT
@testable import Letterhead
import Testing

private typealias State = CredentialState<String>

private let unauthorized = HTTPResponse(request: HTTPRequest(), status: .unauthorized)

/// The state machine at the time `now`.
private struct Desk {
    var state = State(limit: CredentialLimit(count: 3, window: .seconds(10)))
    var now = Duration.zero

    var held: HeldCredential<String>? { available() }

    func available(_ key: State.Key = []) -> HeldCredential<String>? {
        do { return try state.available(for: key, to: nil) } catch { return nil }
    }

    mutating func enter(
        _ id: Int, refused: HeldCredential<String>? = nil, _ freshness: HTTPAuthentication.Freshness = .fresh,
        for key: State.Key = []
    ) -> State.Answer {
        let verdict = available(key).map { State.Verdict(version: $0.version, freshness: freshness) }
        return state.enter(key, refused: refused.map { ($0, unauthorized) }, verdict: verdict, now: now)
    }

    mutating func finish(
        _ flight: Int, _ key: State.Key = [], with result: Result<String?, any Error>
    ) -> Result<HeldCredential<String>, CredentialRefusal> { state.finish(flight, for: key, with: result) }

    mutating func obtained(
        _ credential: String, by id: Int = 0, for key: State.Key = []
    ) throws -> HeldCredential<String> {
        let flight = try #require(enter(id, .expired, for: key).flight)
        return try finish(flight, key, with: .success(credential)).get()
    }
}

extension CredentialState.Answer {
    fileprivate var flight: Int? { if case .obtain(let flight, _) = self { flight } else { nil } }
    fileprivate var used: Credential? { if case .use(let held) = self { held.credential } else { nil } }
    fileprivate var isWait: Bool { if case .wait = self { true } else { false } }
    fileprivate var isAgain: Bool { if case .again = self { true } else { false } }
    fileprivate var refusal: CredentialRefusal? { if case .refuse(let refusal) = self { refusal } else { nil } }
}

extension CredentialRefusal {
    fileprivate var name: String { String(String(describing: self).prefix { $0 != "(" }) }
}

private struct Down: Error {}

extension CredentialLimit {
    static let standard = CredentialLimit(count: 10, window: .seconds(60))
}

@Suite struct CredentialStateTests {
    @Test(arguments: [HTTPAuthentication.Freshness.stale, .expired, .insufficient])
    func `a credential that is no longer fresh is fetched again`(freshness: HTTPAuthentication.Freshness) throws {
        var desk = Desk()
        _ = try desk.obtained("a")
        #expect(desk.enter(2, freshness).flight != nil)
    }

    @Test func `a 401 for the current credential obtains another, which a 401 for the old one receives`() throws {
        var desk = Desk()
        let a = try desk.obtained("a")
        let flight = try #require(desk.enter(2, refused: a).flight)
        #expect(desk.enter(3, refused: a).isWait)
        #expect(try desk.finish(flight, with: .success("b")).get().version == a.version + 1)
        #expect(desk.enter(3, refused: a).used == "b")
    }

    @Test func `after a failed fetch a late 401 receives the failure, and the refused credential is not used`() throws {
        var desk = Desk()
        let a = try desk.obtained("a")
        let flight = try #require(desk.enter(2, refused: a).flight)
        #expect(throws: CredentialRefusal.self) { try desk.finish(flight, with: .failure(Down())).get() }
        #expect(desk.enter(3, refused: a).refusal?.name == "failed")
        #expect(desk.enter(3, .fresh).flight != nil)
    }

    @Test func `a failed fetch does not mark the credential as refused`() throws {
        var desk = Desk()
        _ = try desk.obtained("a")
        let flight = try #require(desk.enter(2, .expired).flight)
        _ = desk.finish(flight, with: .failure(Down()))
        #expect(desk.held?.isRefused == false)
    }

    @Test func `a fetch that returns nil removes the credential and fails all requests`() throws {
        var desk = Desk()
        let a = try desk.obtained("a")
        let flight = try #require(desk.enter(2, refused: a).flight)
        let landed = desk.finish(flight, with: .success(nil))
        #expect(throws: CredentialRefusal.self) { try landed.get() }
        #expect(desk.held == nil)
    }

    @Test func `fetches over the limit of a window are refused, later ones and a stale credential are not`() throws {
        var desk = Desk()
        for number in 1...3 { _ = try desk.obtained("\(number)") }
        #expect(desk.enter(4, .stale).used == "3")
        #expect(desk.enter(4, .expired).refusal?.name == "tooMany")
        desk.now = .seconds(10)
        #expect(desk.enter(5, .expired).flight != nil)
    }

    @Test func `a verdict on a credential that has been replaced is requested again`() throws {
        var desk = Desk()
        let a = try desk.obtained("a")
        _ = try desk.obtained("b")
        let verdict = State.Verdict(version: a.version, freshness: .fresh)
        #expect(desk.state.enter([], verdict: verdict, now: .zero).isAgain)
    }

    @Test func `a reset admits no request until its end`() throws {
        var desk = Desk()
        _ = try #require(desk.enter(1).flight)
        _ = desk.enter(2)
        desk.state.beginReset()
        #expect(desk.enter(3).refusal?.name == "resetting")
        desk.state.endReset()
        #expect(desk.enter(4).flight != nil)
    }

    @Test func `of several resets that overlap, the last one to end admits requests`() {
        var desk = Desk()
        desk.state.beginReset()
        desk.state.beginReset()
        desk.state.endReset()
        #expect(desk.enter(1).refusal?.name == "resetting")
        desk.state.endReset()
        #expect(desk.enter(2).flight != nil)
    }

    @Test func `the result of a fetch from before a reset is discarded`() throws {
        var desk = Desk()
        let old = try #require(desk.enter(1).flight)
        desk.state.beginReset()
        #expect(throws: CredentialRefusal.self) { try desk.finish(old, with: .success("old")).get() }
        desk.state.endReset()
        let new = try #require(desk.enter(2).flight)
        _ = desk.finish(old, with: .success("old"))
        #expect(desk.held == nil)
        #expect(try desk.finish(new, with: .success("new")).get().credential == "new")
    }

    @Test func `a request from before a reset receives no credential from after it`() throws {
        var desk = Desk()
        let old = try desk.obtained("old")
        desk.state.beginReset()
        desk.state.endReset()
        _ = try desk.obtained("new")
        #expect(desk.enter(3, refused: old).refusal?.name == "reset")
        desk.state.refuse(old, for: [], by: unauthorized)
        #expect(desk.enter(4).used == "new")
    }

    @Test func `while a credential with more scopes is fetched, others use the stored one, even if the fetch fails`()
        throws
    {
        var desk = Desk()
        _ = try desk.obtained("a")
        let flight = try #require(desk.enter(2, .insufficient).flight)
        #expect(desk.enter(3, .insufficient).isWait && desk.enter(4).used == "a")
        _ = desk.finish(flight, with: .failure(Down()))
        #expect(desk.enter(5).used == "a")
    }

    @Test func `while a refused credential is replaced, no request uses it`() throws {
        var desk = Desk()
        let a = try desk.obtained("a")
        _ = desk.enter(2, .insufficient)
        #expect(desk.enter(3, refused: a).isWait && desk.enter(4).isWait)
    }

    @Test func `a reset begins a new window`() throws {
        var desk = Desk()
        for number in 1...3 { _ = try desk.obtained("\(number)") }
        desk.state.beginReset()
        desk.state.endReset()
        #expect(desk.enter(4).flight != nil)
    }

    @Test func `each key has its own credential, fetch and limit`() throws {
        var desk = Desk()
        let (a, b) = (try desk.obtained("a", for: [1]), try desk.obtained("b", for: [2]))
        #expect(desk.enter(1, for: [1]).used == "a" && desk.enter(2, for: [2]).used == "b")
        let flight = try #require(desk.enter(3, refused: a, for: [1]).flight)
        #expect(desk.enter(4, for: [2]).used == "b" && desk.enter(5, for: [1]).isWait)
        _ = desk.finish(flight, [1], with: .failure(Down()))
        #expect(desk.enter(6, refused: a, for: [1]).refusal?.name == "failed")
        _ = try desk.obtained("a", for: [1])
        #expect(desk.enter(7, .expired, for: [1]).refusal?.name == "tooMany")
        #expect(desk.enter(8, refused: b, for: [2]).flight != nil)
    }

    @Test func `the credential that was obtained first makes room for a new key`() throws {
        var desk = Desk()
        let first = try #require(desk.enter(0, for: [0, 0, 1]).flight)
        for number in 0..<1_500 { _ = try desk.obtained("\(number)", for: [UInt8(number & 0xFF), UInt8(number >> 8)]) }
        #expect(desk.state.count == 1_000)
        #expect(desk.available([0, 0]) == nil && desk.available([0, 3])?.credential == "768")
        #expect(try desk.finish(first, [0, 0, 1], with: .success("first")).get().credential == "first")
    }

    @Test func `a reset removes the credentials of all keys`() throws {
        var desk = Desk()
        let a = try desk.obtained("a", for: [1])
        desk.state.beginReset()
        desk.state.endReset()
        #expect(desk.state.count == 0 && desk.enter(1, refused: a, for: [1]).refusal?.name == "reset")
    }

    @Test func `a credential has the first 401 that refused it`() throws {
        var desk = Desk()
        let a = try desk.obtained("a")
        let second = HTTPResponse(request: HTTPRequest(), status: .unauthorized, headers: ["X": "2"])
        desk.state.refuse(a, for: [], by: unauthorized)
        desk.state.refuse(a, for: [], by: second)
        #expect(desk.held?.refusal?.headers.isEmpty == true)
    }
}

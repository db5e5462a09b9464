// SPDX-License-Identifier: MIT
import Letterhead
import Testing

private typealias State = CredentialState<String>

/// The state machine at the time `now`.
private struct Desk {
    var state = State(limit: CredentialLimit(count: 3, window: .seconds(10)))
    var now = Duration.zero

    mutating func enter(
        _ id: Int, refused: HeldCredential<String>? = nil, _ freshness: HTTPAuthentication.Freshness = .fresh,
        origin: HTTPOrigin? = nil
    ) -> State.Answer {
        let verdict = state.available.map { State.Verdict(generation: $0.generation, freshness: freshness) }
        return state.enter(refused: refused, origin: origin, verdict: verdict, now: now)
    }

    mutating func obtained(_ credential: String, by id: Int = 0) throws -> HeldCredential<String> {
        let flight = try #require(enter(id, .expired).flight)
        return try state.finish(flight, with: .success(credential)).get()
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

@Suite struct CredentialStateTests {
    @Test func `The first request obtains a credential, and all others wait for it`() throws {
        var desk = Desk()
        let flight = try #require(desk.enter(1).flight)
        #expect(desk.enter(2).isWait)
        #expect(desk.enter(3).isWait)
        let landed = desk.state.finish(flight, with: .success("a"))
        #expect(try landed.get().credential == "a")
    }

    @Test func `A fresh credential is used without waiting`() throws {
        var desk = Desk()
        _ = try desk.obtained("a")
        #expect(desk.enter(2).used == "a")
    }

    @Test(arguments: [HTTPAuthentication.Freshness.stale, .expired, .insufficient])
    func `A credential that is no longer fresh is fetched again`(freshness: HTTPAuthentication.Freshness) throws {
        var desk = Desk()
        _ = try desk.obtained("a")
        #expect(desk.enter(2, freshness).flight != nil)
    }

    @Test func `A 401 for the current credential obtains another`() throws {
        var desk = Desk()
        let a = try desk.obtained("a")
        let flight = try #require(desk.enter(2, refused: a).flight)
        #expect(desk.enter(3, refused: a).isWait)
        #expect(try desk.state.finish(flight, with: .success("b")).get().generation == a.generation + 1)
    }

    @Test func `After a 401 for a replaced credential the request is sent again with the new one`() throws {
        var desk = Desk()
        let a = try desk.obtained("a")
        let flight = try #require(desk.enter(2, refused: a).flight)
        _ = desk.state.finish(flight, with: .success("b"))
        #expect(desk.enter(3, refused: a).used == "b")
    }

    @Test func `A late 401 receives the failure of the fetch that has already ended`() throws {
        var desk = Desk()
        let a = try desk.obtained("a")
        let flight = try #require(desk.enter(2, refused: a).flight)
        #expect(throws: CredentialRefusal.self) { try desk.state.finish(flight, with: .failure(Down())).get() }
        #expect(desk.enter(3, refused: a).refusal?.name == "failed")
    }

    @Test func `After a failure the next request starts another fetch`() throws {
        var desk = Desk()
        let flight = try #require(desk.enter(1).flight)
        _ = desk.state.finish(flight, with: .failure(Down()))
        #expect(desk.enter(2).flight != nil)
    }

    @Test func `A refused credential is not used again after a failed fetch`() throws {
        var desk = Desk()
        let a = try desk.obtained("a")
        let flight = try #require(desk.enter(2, refused: a).flight)
        _ = desk.state.finish(flight, with: .failure(Down()))
        #expect(desk.enter(3, .fresh).flight != nil)
    }

    @Test func `A failed fetch does not mark the credential as refused`() throws {
        var desk = Desk()
        _ = try desk.obtained("a")
        let flight = try #require(desk.enter(2, .expired).flight)
        _ = desk.state.finish(flight, with: .failure(Down()))
        #expect(desk.state.held?.isRefused == false)
    }

    @Test func `A fetch that returns nil removes the credential and fails all requests`() throws {
        var desk = Desk()
        let a = try desk.obtained("a")
        let flight = try #require(desk.enter(2, refused: a).flight)
        let landed = desk.state.finish(flight, with: .success(nil))
        #expect(throws: CredentialRefusal.self) { try landed.get() }
        #expect(desk.state.held == nil)
    }

    @Test func `Fetches over the limit of a window are refused, and later ones are not`() throws {
        var desk = Desk()
        for number in 1...3 { _ = try desk.obtained("\(number)") }
        #expect(desk.enter(4, .expired).refusal?.name == "tooMany")
        desk.now = .seconds(10)
        #expect(desk.enter(5, .expired).flight != nil)
    }

    @Test func `At the limit a stale credential is still used`() throws {
        var desk = Desk()
        for number in 1...3 { _ = try desk.obtained("\(number)") }
        #expect(desk.enter(4, .stale).used == "3")
    }

    @Test func `A verdict on a credential that has been replaced is requested again`() throws {
        var desk = Desk()
        let a = try desk.obtained("a")
        _ = try desk.obtained("b")
        let verdict = State.Verdict(generation: a.generation, freshness: .fresh)
        #expect(desk.state.enter(verdict: verdict, now: .zero).isAgain)
    }

    @Test func `A reset admits no request until its end`() throws {
        var desk = Desk()
        _ = try #require(desk.enter(1).flight)
        _ = desk.enter(2)
        desk.state.beginReset()
        #expect(desk.enter(3).refusal?.name == "resetting")
        desk.state.endReset()
        #expect(desk.enter(4).flight != nil)
    }

    @Test func `Of several resets that overlap, the last one to end admits requests`() {
        var desk = Desk()
        desk.state.beginReset()
        desk.state.beginReset()
        desk.state.endReset()
        #expect(desk.enter(1).refusal?.name == "resetting")
        desk.state.endReset()
        #expect(desk.enter(2).flight != nil)
    }

    @Test func `The result of a fetch from before a reset is discarded`() throws {
        var desk = Desk()
        let old = try #require(desk.enter(1).flight)
        desk.state.beginReset()
        #expect(throws: CredentialRefusal.self) { try desk.state.finish(old, with: .success("old")).get() }
        desk.state.endReset()
        let new = try #require(desk.enter(2).flight)
        _ = desk.state.finish(old, with: .success("old"))
        #expect(desk.state.held == nil)
        #expect(try desk.state.finish(new, with: .success("new")).get().credential == "new")
    }

    @Test func `A request from before a reset receives no credential from after it`() throws {
        var desk = Desk()
        let old = try desk.obtained("old")
        desk.state.beginReset()
        desk.state.endReset()
        _ = try desk.obtained("new")
        #expect(desk.enter(3, refused: old).refusal?.name == "reset")
        desk.state.refuse(old)
        #expect(desk.enter(4).used == "new")
    }

    @Test func `While a credential with more scopes is fetched, others use the stored one, even if the fetch fails`()
        throws
    {
        var desk = Desk()
        _ = try desk.obtained("a")
        let flight = try #require(desk.enter(2, .insufficient).flight)
        #expect(desk.enter(3, .insufficient).isWait)
        #expect(desk.enter(4).used == "a")
        _ = desk.state.finish(flight, with: .failure(Down()))
        #expect(desk.enter(5).used == "a")
    }

    @Test func `While a refused credential is replaced, no request uses it`() throws {
        var desk = Desk()
        let a = try desk.obtained("a")
        _ = desk.enter(2, .insufficient)
        #expect(desk.enter(3, refused: a).isWait)
        #expect(desk.enter(4).isWait)
    }

    @Test func `A reset begins a new window`() throws {
        var desk = Desk()
        for number in 1...3 { _ = try desk.obtained("\(number)") }
        desk.state.beginReset()
        desk.state.endReset()
        #expect(desk.enter(4).flight != nil)
    }
}

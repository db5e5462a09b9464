import Letterhead
import Testing

private typealias State = CredentialState<String, Int>

/// The machine with a hand for the tests: time stands at `now`, waiters are their ticket's number.
private struct Desk {
    var state = State(limit: CredentialLimit(count: 3, window: .seconds(10)))
    var now = Duration.zero

    mutating func enter(
        _ id: Int, refused: HeldCredential<String>? = nil, _ freshness: CredentialFreshness = .fresh,
        origin: HTTPOrigin? = nil
    ) -> State.Answer {
        let verdict = state.available.map { State.Verdict(generation: $0.generation, freshness: freshness) }
        return state.enter(.init(id: id, refused: refused, origin: origin), as: id, verdict: verdict, now: now)
    }

    mutating func obtained(_ credential: String, by id: Int = 0) throws -> HeldCredential<String> {
        let flight = try #require(enter(id, .expired).flight)
        return try state.finish(flight, with: .success(credential)).result.get()
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
    @Test func `The first one gets it, and all others wait for the same`() throws {
        var desk = Desk()
        let flight = try #require(desk.enter(1).flight)
        #expect(desk.enter(2).isWait)
        #expect(desk.enter(3).isWait)
        let landed = desk.state.finish(flight, with: .success("a"))
        #expect(landed.waiters == [1, 2, 3])
        #expect(try landed.result.get().credential == "a")
    }

    @Test func `A fresh one is used without waiting`() throws {
        var desk = Desk()
        _ = try desk.obtained("a")
        #expect(desk.enter(2).used == "a")
    }

    @Test(arguments: [CredentialFreshness.stale, .expired, .insufficient])
    func `A credential that is no longer fresh is fetched again`(freshness: CredentialFreshness) throws {
        var desk = Desk()
        _ = try desk.obtained("a")
        #expect(desk.enter(2, freshness).flight != nil)
    }

    @Test func `A 401 for the current one gets another`() throws {
        var desk = Desk()
        let a = try desk.obtained("a")
        let flight = try #require(desk.enter(2, refused: a).flight)
        #expect(desk.enter(3, refused: a).isWait)
        #expect(try desk.state.finish(flight, with: .success("b")).result.get().generation == a.generation + 1)
    }

    @Test func `A 401 for one that has been replaced since goes again with the new one`() throws {
        var desk = Desk()
        let a = try desk.obtained("a")
        let flight = try #require(desk.enter(2, refused: a).flight)
        _ = desk.state.finish(flight, with: .success("b"))
        #expect(desk.enter(3, refused: a).used == "b")
    }

    @Test func `A late 401 gets the failure of the flight that it came too late for`() throws {
        var desk = Desk()
        let a = try desk.obtained("a")
        let flight = try #require(desk.enter(2, refused: a).flight)
        let landed = desk.state.finish(flight, with: .failure(Down()))
        #expect(landed.waiters == [2])
        #expect(desk.enter(3, refused: a).refusal?.name == "failed")
    }

    @Test func `After a failure the next request tries again`() throws {
        var desk = Desk()
        let flight = try #require(desk.enter(1).flight)
        _ = desk.state.finish(flight, with: .failure(Down()))
        #expect(desk.enter(2).flight != nil)
    }

    @Test func `One that was refused is not used again because getting another failed`() throws {
        var desk = Desk()
        let a = try desk.obtained("a")
        let flight = try #require(desk.enter(2, refused: a).flight)
        _ = desk.state.finish(flight, with: .failure(Down()))
        #expect(desk.enter(3, .fresh).flight != nil)
    }

    @Test func `Nothing given drops the last one and fails all`() throws {
        var desk = Desk()
        let a = try desk.obtained("a")
        let flight = try #require(desk.enter(2, refused: a).flight)
        let landed = desk.state.finish(flight, with: .success(nil))
        #expect(throws: CredentialRefusal.self) { try landed.result.get() }
        #expect(desk.state.held == nil)
    }

    @Test func `A waiter that leaves is not called, and the others are`() throws {
        var desk = Desk()
        let flight = try #require(desk.enter(1).flight)
        _ = desk.enter(2)
        _ = desk.enter(3)
        desk.state.leave(1)
        #expect(desk.state.finish(flight, with: .success("a")).waiters == [2, 3])
    }

    @Test func `More than the limit in a window are refused, and later ones are not`() throws {
        var desk = Desk()
        for number in 1...3 { _ = try desk.obtained("\(number)") }
        #expect(desk.enter(4, .expired).refusal?.name == "tooMany")
        desk.now = .seconds(10)
        #expect(desk.enter(5, .expired).flight != nil)
    }

    @Test func `At the limit a stale one is still used`() throws {
        var desk = Desk()
        for number in 1...3 { _ = try desk.obtained("\(number)") }
        #expect(desk.enter(4, .stale).used == "3")
    }

    @Test func `A verdict on another one than is held is given again`() throws {
        var desk = Desk()
        let a = try desk.obtained("a")
        _ = try desk.obtained("b")
        let verdict = State.Verdict(generation: a.generation, freshness: .fresh)
        #expect(desk.state.enter(.init(id: 9), as: 9, verdict: verdict, now: .zero).isAgain)
    }

    @Test func `A reset fails all waiters, and admits no request until its end`() throws {
        var desk = Desk()
        _ = try #require(desk.enter(1).flight)
        _ = desk.enter(2)
        #expect(desk.state.beginReset() == [1, 2])
        #expect(desk.enter(3).refusal?.name == "resetting")
        desk.state.endReset()
        #expect(desk.enter(4).flight != nil)
    }

    @Test func `What a flight brings that a reset has overtaken is thrown away`() throws {
        var desk = Desk()
        let old = try #require(desk.enter(1).flight)
        _ = desk.state.beginReset()
        #expect(desk.state.finish(old, with: .success("old")).waiters.isEmpty)
        desk.state.endReset()
        let new = try #require(desk.enter(2).flight)
        _ = desk.state.finish(old, with: .success("old"))
        #expect(desk.state.held == nil)
        #expect(try desk.state.finish(new, with: .success("new")).result.get().credential == "new")
    }

    @Test func `A request of before a reset gets nothing of what comes after`() throws {
        var desk = Desk()
        let old = try desk.obtained("old")
        _ = desk.state.beginReset()
        desk.state.endReset()
        _ = try desk.obtained("new")
        #expect(desk.enter(3, refused: old).refusal?.name == "reset")
        desk.state.refuse(old)
        #expect(desk.enter(4).used == "new")
    }

    @Test func `While a wider one is fetched, others use the one that is held, also when the fetch fails`() throws {
        var desk = Desk()
        _ = try desk.obtained("a")
        let flight = try #require(desk.enter(2, .insufficient).flight)
        #expect(desk.enter(3, .insufficient).isWait)
        #expect(desk.enter(4).used == "a")
        #expect(desk.state.finish(flight, with: .failure(Down())).waiters == [2, 3])
        #expect(desk.enter(5).used == "a")
    }

    @Test func `While a refused one is replaced, no request uses it`() throws {
        var desk = Desk()
        let a = try desk.obtained("a")
        _ = desk.enter(2, .insufficient)
        #expect(desk.enter(3, refused: a).isWait)
        #expect(desk.enter(4).isWait)
    }

    @Test func `A reset begins a new window`() throws {
        var desk = Desk()
        for number in 1...3 { _ = try desk.obtained("\(number)") }
        _ = desk.state.beginReset()
        desk.state.endReset()
        #expect(desk.enter(4).flight != nil)
    }
}

// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadTesting
import Testing

/// Each law finds events that break it.
@Suite struct ObserverLawsTests {
    private func laws(_ events: HTTPEvent...) -> Set<String> { Set(ObserverLaws.violations(of: events).map(\.law)) }

    private func event(_ name: HTTPEvent.Name, _ attempt: Int = 0, at time: Int = 0, exchange: Int? = nil) -> HTTPEvent
    {
        var event = HTTPEvent(name, attempt: attempt, time: .milliseconds(time))
        event[.exchange] = exchange
        return event
    }

    @Test func `events in order break no law`() {
        #expect(
            laws(
                event("load.start"), event("attempt.start", 1), event("exchange.start", 1, exchange: 1),
                event("exchange.end", 1, exchange: 1), event("attempt.end", 1), event("load.end", 1)) == [])
    }

    @Test func `a load without a start or an end is found`() {
        #expect(laws(event("attempt.start", 1), event("load.end", 1)) == ["start and end"])
        #expect(laws(event("load.start")) == ["start and end"])
        #expect(laws(event("load.start"), event("load.end"), event("load.failed")) == ["start and end"])
        #expect(laws(event("load.start"), event("load.end"), event("attempt.start", 1)).contains("start and end"))
        let began = [event("load.start"), event("exchange.start", exchange: 1), event("load.cancelled")]
        #expect(ObserverLaws.violations(of: began + [event("exchange.end", exchange: 1)]) == [])
    }

    @Test func `times that decrease are found`() {
        #expect(laws(event("load.start", at: 2), event("load.end", at: 1)) == ["time"])
    }

    @Test func `attempts out of order are found`() {
        #expect(laws(event("load.start"), event("attempt.start", 2), event("load.end", 2)) == ["attempts"])
        #expect(laws(event("load.start"), event("attempt.end"), event("load.end")) == ["attempts"])
    }

    @Test func `events after the end of their exchange are found`() {
        #expect(
            laws(
                event("load.start"), event("exchange.start", exchange: 1), event("exchange.end", exchange: 1),
                event("body.end", exchange: 1), event("load.end")) == ["exchanges"])
        #expect(laws(event("load.start"), event("body.end", exchange: 1), event("load.end")) == ["exchanges"])
    }

    @Test func `a connection that closes without being opened, or twice, is found`() {
        let start = [event("load.start"), event("exchange.start", exchange: 1)]
        let opened = event("connection.opened", exchange: 1)
        let closed = event("connection.closed", exchange: 1)
        let end = [event("exchange.end", exchange: 1), event("load.end")]
        func laws(_ events: [HTTPEvent]) -> [String] { ObserverLaws.violations(of: events).map(\.law) }
        #expect(laws(start + [opened, closed] + end) == [] && laws(start + [closed] + end) == ["connections"])
        #expect(laws(start + [opened, closed, closed] + end) == ["connections"])
    }

    @Test func `an end without a start is found`() {
        #expect(laws(event("load.start"), event("connect.end"), event("load.end")) == ["pairs"])
    }

    @Test func `another route within a load, and a child before its parent, are found`() {
        #expect(laws(event("load.start"), HTTPEvent("load.end", route: "b")) == ["identity"])
        #expect(
            laws(HTTPEvent("load.start", load: 2, parent: 1), HTTPEvent("load.end", load: 2, parent: 1)) == ["parents"])
    }
}

// SPDX-License-Identifier: MIT
import Testing

@testable import Letterhead

struct ConnectionQueueTests {
    /// A class, so that `#expect` can call what changes it.
    private final class Subject {
        private var queue: ConnectionQueue<String>
        var laneCount: Int { queue.laneCount }

        init(mostPerOrigin: Int, most: Int) { queue = ConnectionQueue(mostPerOrigin: mostPerOrigin, most: most) }

        func lane(of origin: String, isExclusive: Bool) -> ConnectionQueue<String>.Lane {
            queue.lane(of: origin, isExclusive: isExclusive)
        }

        func enter(_ lane: ConnectionQueue<String>.Lane, _ name: String) -> UInt64? { queue.enter(lane, name) }
        func leave(_ lane: ConnectionQueue<String>.Lane, ticket: UInt64?) { queue.leave(lane, ticket: ticket) }
        func note(isExclusive: Bool, in lane: ConnectionQueue<String>.Lane) {
            queue.note(isExclusive: isExclusive, in: lane)
        }

        /// Lets as many begin as may, and returns them in order.
        func drain() -> [String] {
            var all: [String] = []
            while let next = queue.next() { all.append(next) }
            return all
        }
    }

    @Test func `transfers over the limit of an origin wait, and begin in order of arrival as others end`() {
        let queue = Subject(mostPerOrigin: 2, most: 9)
        let lane = queue.lane(of: "http://a", isExclusive: true)
        let tickets = ["1", "2", "3", "4", "5"].map { queue.enter(lane, $0) }
        #expect(tickets.map { $0 == nil } == [true, true, false, false, false])
        #expect(queue.drain() == [])
        queue.leave(lane, ticket: nil)
        #expect(queue.drain() == ["3"])
        queue.leave(lane, ticket: nil)
        queue.leave(lane, ticket: nil)
        #expect(queue.drain() == ["4", "5"])
    }

    @Test func `a new transfer does not overtake waiting ones`() {
        let queue = Subject(mostPerOrigin: 1, most: 9)
        let lane = queue.lane(of: "http://a", isExclusive: true)
        #expect(queue.enter(lane, "1") == nil)
        #expect(queue.enter(lane, "2") != nil)
        queue.leave(lane, ticket: nil)
        #expect(queue.enter(lane, "3") != nil)
        #expect(queue.drain() == ["2"])
    }

    @Test func `a transfer to a new origin does not overtake the waiting ones of others`() {
        let queue = Subject(mostPerOrigin: 1, most: 1)
        let (a, b, c) = (lane("a", of: queue), lane("b", of: queue), lane("c", of: queue))
        #expect(queue.enter(a, "a") == nil && queue.enter(b, "b") != nil)
        queue.leave(a, ticket: nil)
        #expect(queue.enter(c, "c") != nil)
        #expect(queue.drain() == ["b"])
        queue.leave(b, ticket: nil)
        #expect(queue.drain() == ["c"])
    }

    private func lane(_ name: String, of queue: Subject) -> ConnectionQueue<String>.Lane {
        queue.lane(of: name, isExclusive: true)
    }

    @Test func `transfers that can share a connection in use do not wait for the total limit`() {
        let queue = Subject(mostPerOrigin: 2, most: 2)
        let (a, b, c) = (lane("a", of: queue), lane("b", of: queue), lane("c", of: queue))
        #expect(queue.enter(a, "a1") == nil && queue.enter(b, "b1") == nil)
        #expect(queue.enter(c, "c1") != nil)
        for name in ["a2", "a3"] { #expect(queue.enter(a, name) != nil) }
        queue.note(isExclusive: false, in: a)
        #expect(queue.drain() == ["a2", "a3"])
        #expect(queue.enter(a, "a4") == nil)
        // The origin needs a connection again once it has no transfer.
        for _ in 0..<4 { queue.leave(a, ticket: nil) }
        #expect(queue.enter(a, "a5") != nil)
        #expect(queue.drain() == ["c1"])
        queue.leave(b, ticket: nil)
        #expect(queue.enter(a, "a6") != nil)
        #expect(queue.drain() == ["a5", "a6"])
    }

    @Test func `an origin that turns out not to share its connections waits for the total limit again`() {
        let queue = Subject(mostPerOrigin: 3, most: 2)
        let (a, b) = (lane("a", of: queue), lane("b", of: queue))
        #expect(queue.enter(a, "a1") == nil && queue.enter(b, "b1") == nil)
        #expect(queue.enter(a, "a2") != nil)
        queue.note(isExclusive: false, in: a)
        queue.note(isExclusive: true, in: a)
        #expect(queue.drain() == [])
        queue.leave(b, ticket: nil)
        #expect(queue.drain() == ["a2"])
    }

    @Test func `a transfer that leaves the queue does not take a connection`() {
        let queue = Subject(mostPerOrigin: 1, most: 9)
        let lane = queue.lane(of: "http://a", isExclusive: true)
        let tickets = ["1", "2", "3"].map { queue.enter(lane, $0) }
        queue.leave(lane, ticket: tickets[1])
        #expect(queue.drain() == [])
        queue.leave(lane, ticket: nil)
        #expect(queue.drain() == ["3"])
    }

    @Test func `origins alternate at the total limit, and an origin at its own limit does not delay others`() {
        let queue = Subject(mostPerOrigin: 2, most: 3)
        let (a, b) = (queue.lane(of: "http://a", isExclusive: true), queue.lane(of: "http://b", isExclusive: true))
        for name in ["a1", "a2", "a3", "a4"] { _ = queue.enter(a, name) }
        #expect(queue.enter(b, "b1") == nil)
        #expect(queue.enter(b, "b2") != nil && queue.enter(b, "b3") != nil)
        queue.leave(a, ticket: nil)
        #expect(queue.drain() == ["b2"])
        queue.leave(b, ticket: nil)
        #expect(queue.drain() == ["a3"])
        queue.leave(a, ticket: nil)
        queue.leave(a, ticket: nil)
        queue.leave(b, ticket: nil)
        #expect(queue.drain().sorted() == ["a4", "b3"])
    }

    @Test func `an origin with shared connections has no limit, and is counted once`() {
        let queue = Subject(mostPerOrigin: 1, most: 2)
        let shared = queue.lane(of: "https://a", isExclusive: false)
        let other = queue.lane(of: "http://b", isExclusive: true)
        for number in 0..<9 {
            let ticket = queue.enter(shared, "\(number)")
            #expect(ticket == nil)
        }
        #expect(queue.enter(other, "b") == nil)
        #expect(queue.enter(queue.lane(of: "https://c", isExclusive: false), "c") != nil)
    }

    @Test func `the limit applies to an origin while it uses HTTP/1, and not while it uses HTTP/2`() {
        let queue = Subject(mostPerOrigin: 2, most: 9)
        let lane = queue.lane(of: "https://a", isExclusive: false)
        for name in ["1", "2", "3"] {
            let ticket = queue.enter(lane, name)
            #expect(ticket == nil)
        }
        queue.note(isExclusive: true, in: lane)
        #expect(queue.enter(lane, "4") != nil && queue.enter(lane, "5") != nil)
        queue.leave(lane, ticket: nil)
        #expect(queue.drain() == [])
        queue.leave(lane, ticket: nil)
        #expect(queue.drain() == ["4"])
        queue.note(isExclusive: false, in: lane)
        #expect(queue.drain() == ["5"])
    }

    @Test func `an origin with shared connections counts as one connection while it has transfers`() {
        var queue = ConnectionQueue<Int>(mostPerOrigin: 4, most: 4)
        let lane = queue.lane(of: "a", isExclusive: false)
        for number in 1...2 { _ = queue.enter(lane, number) }
        #expect(queue.sharedLanes == 1 && queue.underWay == 0)
        queue.note(isExclusive: true, in: lane)
        #expect(queue.sharedLanes == 0 && queue.underWay == 2)
        queue.note(isExclusive: false, in: lane)
        queue.leave(lane, ticket: nil)
        #expect(queue.sharedLanes == 1 && queue.underWay == 0)
        queue.leave(lane, ticket: nil)
        #expect(queue.sharedLanes == 0)
    }

    @Test func `idle origins are removed if there are many`() {
        let queue = Subject(mostPerOrigin: 1, most: 9)
        let first = queue.lane(of: "http://0", isExclusive: true)
        for number in 1..<1000 {
            let lane = queue.lane(of: "http://\(number)", isExclusive: true)
            #expect(queue.enter(lane, "") == nil)
            queue.leave(lane, ticket: nil)
        }
        #expect(queue.lane(of: "http://0", isExclusive: true) === first && queue.laneCount <= 65)
    }
}

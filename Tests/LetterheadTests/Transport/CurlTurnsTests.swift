#if os(Linux)
    import Testing

    @testable import Letterhead

    /// Times are in nanoseconds; a wait is long from 200 microseconds on.
    @Suite struct CurlTurnsTests {
        private let turns = Turns()

        @Test func `Those that are gathered take turns on one thread, in order`() {
            turns.gather(0..<3, at: 0)
            #expect(turns.join() == [0])
            #expect(turns.next(after: 1) == 1)
            #expect(turns.isBehind)
            #expect(turns.next(after: 2) == 2)
            #expect(!turns.isBehind)
            turns.gather(3..<4, at: 1)
            #expect(turns.join() == [], "the thread is still at it")
            #expect(turns.next(after: 3) == 3)
            #expect(turns.next(after: 4) == nil)
            turns.gather(4..<5, at: 2)
            #expect(turns.join() == [4])
        }

        @Test func `What comes at other times goes its own way`() {
            turns.gather(0..<0, at: 0)
            #expect(!turns.take(1))
            #expect(!turns.isBehind)
            #expect(turns.join() == [])
        }

        @Test func `Nobody looks after those who do not wait`() {
            turns.gather(0..<1, at: 0)
            #expect(turns.join() == [0])
            #expect(turns.grow(at: 1_000_000) == nil)
        }

        @Test func `One more thread joins for each 200 microseconds that the first in line has waited`() {
            turns.gather(0..<4, at: 1_000_000)
            #expect(turns.join() == [0])
            #expect(turns.grow(at: 1_000_000) == 1_200_000)
            #expect(turns.grow(at: 1_199_999) == 1_200_000)
            #expect(turns.join() == [])
            #expect(turns.grow(at: 1_200_000) == 1_400_000)
            #expect(turns.join() == [1])
            #expect(turns.grow(at: 1_300_000) == 1_400_000)
            #expect(turns.join() == [])
            #expect(turns.grow(at: 1_500_000) == 1_700_000)
            #expect(turns.join() == [2])
        }

        @Test func `Where two threads had enough to do, the next gathering begins with two`() {
            turns.gather(0..<8, at: 0)
            #expect(turns.join() == [0])
            #expect(turns.grow(at: 200_000) != nil)
            #expect(turns.join() == [1])
            for job in 2..<8 { #expect(turns.next(after: job / 2) == job) }
            for _ in 0..<2 { #expect(turns.next(after: 4) == nil) }
            turns.gather(8..<12, at: 300_000)
            #expect(turns.join() == [8, 9])
        }

        @Test func `A thread that came for a single turn does not come the next time`() {
            turns.gather(0..<3, at: 0)
            #expect(turns.join() == [0])
            #expect(turns.grow(at: 200_000) != nil)
            #expect(turns.join() == [1])
            #expect(turns.next(after: 1) == 2)
            #expect(turns.next(after: 1) == nil)
            #expect(turns.next(after: 2) == nil)
            turns.gather(3..<6, at: 300_000)
            #expect(turns.join() == [3])
        }

        @Test func `While a thread is kept by its turn, another joins at once for those who come`() {
            turns.gather(0..<1, at: 0)
            #expect(turns.join() == [0])
            turns.gather(1..<2, at: 300_000)
            #expect(turns.join() == [])
            #expect(turns.grow(at: 500_000) != nil)
            #expect(turns.join() == [1])
            #expect(turns.next(after: 1) == nil)
            for job in 2..<10 {
                turns.gather(job..<job + 1, at: 600_000)
                #expect(turns.join() == [job])
                #expect(turns.next(after: 1) == nil)
            }
            #expect(turns.next(after: 1) == nil, "the first goes on at last")
            turns.gather(10..<12, at: 700_000)
            #expect(turns.join() == [10])
        }

        @Test func `A line that is never empty keeps nobody who has gone`() {
            let present = Counter()
            let gone = Counter()
            var turns = CurlTurns<Passenger>()
            var latest: Passenger?
            for count in 1...20_000 {
                turns.beginGathering(at: 0)
                for _ in 0..<(count == 1 ? 2 : 1) {
                    let isTaken = turns.take(Passenger(present, gone))
                    #expect(isTaken)
                }
                turns.endGathering()
                latest = count == 1 ? turns.join() : turns.next(after: count)
                #expect(latest != nil)
            }
            #expect(turns.isBehind)
            #expect(present.value - gone.value < 1_000)
        }
    }

    /// Says when it has gone. A class, since only an object can.
    private final class Passenger {
        private let gone: Counter

        init(_ present: Counter, _ gone: Counter) {
            present.next()
            self.gone = gone
        }

        deinit { gone.next() }
    }

    /// A class, since an expectation cannot change a value.
    private final class Turns {
        private var turns = CurlTurns<Int>()

        func gather(_ jobs: Range<Int>, at time: UInt64) {
            turns.beginGathering(at: time)
            for job in jobs { #expect(take(job)) }
            turns.endGathering()
        }

        var isBehind: Bool { turns.isBehind }
        func take(_ job: Int) -> Bool { turns.take(job) }
        func next(after count: Int) -> Int? { turns.next(after: count) }
        func grow(at time: UInt64) -> UInt64? { turns.grow(at: time) }

        /// The first turns of all threads that join.
        func join() -> [Int] {
            var jobs: [Int] = []
            while let job = turns.join() { jobs.append(job) }
            return jobs
        }
    }
#endif

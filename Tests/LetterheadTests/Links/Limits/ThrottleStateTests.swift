// SPDX-License-Identifier: MIT
import TestKit
import Testing

@testable import Letterhead

@Suite struct ThrottleStateTests {
    @Test(arguments: 0..<20) func `no slot is lost or assigned twice, in every order of events`(seed: UInt64) {
        var dice = SeededGenerator(seed: seed)
        var state = ThrottleState<Int>(limit: 2)
        var (running, waiting): ([SlotKey: Set<Int>], [SlotKey: [UInt64: Int]]) = ([:], [:])
        let keys = [nil, "a", "b"].map { SlotKey(name: $0) }
        var places: [Int: (SlotKey, UInt64)] = [:]
        func wake(_ waiter: Int) {
            guard let (key, place) = places.removeValue(forKey: waiter) else { return }
            waiting[key]?[place] = nil
            running[key, default: []].insert(waiter)
        }
        for waiter in 0..<2_000 {
            let key = keys[Int.random(in: 0..<3, using: &dice)]
            switch Int.random(in: 0..<10, using: &dice) {
            case 0...4:
                let priority = Int.random(in: 0..<3, using: &dice)
                switch state.arrive(key, priority: priority, queueLimit: 20, waiter: waiter) {
                case .runs: running[key, default: []].insert(waiter)
                case .waits(let place):
                    places[waiter] = (key, place)
                    waiting[key, default: [:]][place] = waiter
                case .full, .refused: break
                }
            case 5...7:
                guard let ended = running[key]?.first else { continue }
                running[key]?.remove(ended)
                if let next = state.leave(key) { wake(next) }
            case 8:
                guard let (place, gone) = waiting[key]?.first else { continue }
                #expect(state.leaveLine(key, place: place) == gone)
                waiting[key]?[place] = nil
                places[gone] = nil
            default:
                for next in state.setLimit(Int.random(in: 0..<5, using: &dice)) { wake(next) }
            }
            #expect(state.running == running.values.reduce(0) { $0 + $1.count })
            #expect(state.waiting == waiting.values.reduce(0) { $0 + $1.count })
            for key in keys where waiting[key]?.isEmpty == false {
                #expect(running[key, default: []].count >= state.limit)
            }
        }
        for key in keys {
            while running[key]?.popFirst() != nil { if let next = state.leave(key) { wake(next) } }
        }
        _ = state.clearLines()
        #expect(state.running == 0 && state.waiting == 0 && state.laneCount == 0)
    }

    @Test func `the queue is ordered by priority and arrival, without cancelled requests`() {
        var line = WaitingLine<String>()
        for (place, (name, priority)) in [("a", 0), ("b", 1), ("c", 0), ("d", 1), ("e", -1)].enumerated() {
            line.join(name, at: UInt64(place), priority: priority)
        }
        var copy = line
        #expect(copy.removeAll { _ in true } == ["b", "d", "a", "c", "e"])
        #expect(line.leave(0) == "a" && line.leave(0) == nil && line.count == 4)
        #expect([line.next(), line.next(), line.next(), line.next(), line.next()] == ["b", "d", "c", "e", nil])
    }
}

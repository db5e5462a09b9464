// SPDX-License-Identifier: MIT
import LetterheadTesting
import Synchronization
import TestKit
import Testing

@testable import Letterhead

@Suite(.timeLimit(.minutes(3))) struct FlightsTests {
    private let flights = Flights<String, Int>()
    private let clock = TestClock()
    private let started = Counter()

    /// Joins an operation that ends with 1 when the gate opens, or with 0 when it is cancelled.
    private func join(
        _ key: String = "a", isLasting: Bool = false, until gate: OneShot<Int>
    ) -> Flights<String, Int>.Ticket {
        flights.join(key, isLasting: isLasting) { [started] in
            _ = started.next()
            return await withTaskCancellationHandler {
                await gate.value
            } onCancel: {
                gate.set(0)
            }
        }
    }

    private func wait(
        for ticket: Flights<String, Int>.Ticket, within limit: Duration? = nil
    ) -> Task<Flights<String, Int>.Outcome, Never> {
        Task { [flights, clock] in await flights.outcome(for: ticket, within: limit, on: clock) }
    }

    @Test func `all waiting tasks of a key receive the value of one operation, and the key is then free`() async {
        let gate = OneShot<Int>()
        let tickets = (0..<5).map { _ in join(until: gate) }
        let other = join("b", until: gate)
        #expect(tickets.map(\.isFirst) == [true, false, false, false, false] && other.isFirst)
        #expect(flights.running == 2 && flights.waiting == 6)
        gate.set(1)
        for ticket in tickets + [other] { #expect(await wait(for: ticket).value.number == 1) }
        #expect(started.value == 2 && flights.running == 0 && flights.waiting == 0 && flights.join("a") == nil)
        #expect(join(until: gate).isFirst)
    }

    @Test(arguments: [true, false])
    func `the operation is cancelled with its last waiting task unless it is lasting`(isLasting: Bool) async throws {
        let gate = OneShot<Int>()
        let waits = [join(isLasting: isLasting, until: gate), join(until: gate)].map { wait(for: $0) }
        await until { [started] in started.value == 1 }
        waits[0].cancel()
        #expect(await waits[0].value.name == "cancelled" && flights.waiting == 1 && gate.valueNow == nil)
        waits[1].cancel()
        #expect(await waits[1].value.name == "cancelled" && flights.running == (isLasting ? 1 : 0))
        if isLasting {
            let late = try #require(flights.join("a"))
            gate.set(1)
            #expect(await wait(for: late).value.number == 1)
        } else {
            #expect(await gate.value == 0 && join(until: OneShot()).isFirst)
        }
    }

    @Test func `an operation that is started has no waiting tasks, and does not change one in flight`() async throws {
        let (background, gate) = (OneShot<Int>(), OneShot<Int>())
        for _ in 0..<3 { flights.start("b") { await background.value } }
        #expect(flights.running == 1 && flights.waiting == 0)
        let late = try #require(flights.join("b"))
        background.set(1)
        #expect(await wait(for: late).value.number == 1 && !late.isFirst && flights.running == 0)
        let only = wait(for: join(until: gate))
        await until { [started] in started.value == 1 }
        flights.start("a") { 2 }
        only.cancel()
        #expect(await only.value.name == "cancelled" && flights.running == 0)
        #expect(await gate.value == 0)
    }

    @Test func `a reset of some keys leaves the others`() async {
        let gate = OneShot<Int>()
        let (ended, kept) = (wait(for: join(until: OneShot())), wait(for: join("b", until: gate)))
        flights.reset { $0 == "a" }
        #expect(await ended.value.name == "reset" && flights.running == 1)
        gate.set(1)
        #expect(await kept.value.number == 1)
    }

    @Test func `each task waits until its own limit, and the others wait on`() async {
        let gate = OneShot<Int>()
        let (hasty, patient) = (wait(for: join(until: gate), within: .seconds(1)), wait(for: join(until: gate)))
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        #expect(await hasty.value.name == "late" && flights.waiting == 1)
        gate.set(1)
        #expect(await patient.value.number == 1)
    }

    @Test func `a task whose limit passes while the operation ends receives one of the two, and nothing is left`() async
    {
        for _ in 0..<200 {
            let (gate, clock) = (OneShot<Int>(), TestClock())
            let ticket = join(until: gate)
            let wait = Task { [flights] in await flights.outcome(for: ticket, within: .seconds(1), on: clock) }
            await clock.waitForSleepers(1)
            async let end: Void = { _ = gate.set(1) }()
            clock.advance(by: .seconds(2))
            await end
            let outcome = await wait.value
            #expect(outcome.number == 1 || outcome.name == "late")
            #expect(flights.running == 0 && flights.waiting == 0)
        }
    }

    @Test func `an operation has the highest priority of its waiting tasks`() async throws {
        let first = flights.join("a") {
            await until { Task.currentPriority >= .high }
            return 1
        }
        let low = Task(priority: .low) { [flights, clock] in
            await flights.outcome(for: first, within: nil, on: clock).number
        }
        let second = try #require(flights.join("a"))
        let high = Task(priority: .high) { [flights, clock] in
            await flights.outcome(for: second, within: nil, on: clock).number
        }
        #expect(await low.value == 1)
        #expect(await high.value == 1)
    }

    @Test func `a reset ends all waits at once, cancels the operations, and frees the keys`() async {
        let gates = [OneShot<Int>(), OneShot<Int>()]
        let waits = [wait(for: join(until: gates[0])), wait(for: join("b", isLasting: true, until: gates[1]))]
        await until { [started] in started.value == 2 }
        flights.reset()
        for wait in waits { #expect(await wait.value.name == "reset") }
        for gate in gates { #expect(await gate.value == 0) }
        #expect(flights.running == 0 && join(until: OneShot()).isFirst)
    }

    @Test func `an operation may reset its own flights, and its value is discarded`() async {
        let ticket = flights.join("a") { [flights] in
            flights.reset()
            return 1
        }
        #expect(await wait(for: ticket).value.name == "reset")
    }

    @Test(arguments: 0..<10)
    func `each ticket belongs to one operation of its key, in every order of events`(seed: UInt64) async {
        var random = SeededGenerator(seed: seed)
        var open: [String: (gate: OneShot<Int>, waits: [Task<Flights<String, Int>.Outcome, Never>])] = [:]
        for _ in 0..<300 {
            let key = ["a", "b", "c"][Int(random.next() % 3)]
            switch random.next() % 8 {
            case 0..<4:
                let gate = open[key]?.gate ?? OneShot()
                let ticket = join(key, until: gate)
                #expect(ticket.isFirst == (open[key] == nil))
                open[key, default: (gate, [])].waits.append(wait(for: ticket))
            case 4..<7:
                guard let last = open[key]?.waits.popLast() else { break }
                last.cancel()
                #expect(await last.value.name == "cancelled")
                if open[key]?.waits.isEmpty == true { open[key] = nil }
            default:
                guard let ended = open.removeValue(forKey: key) else { break }
                ended.gate.set(7)
                for wait in ended.waits { #expect(await wait.value.number == 7) }
            }
            #expect(flights.running == open.count)
            #expect(flights.waiting == open.values.reduce(0) { $0 + $1.waits.count })
        }
        flights.reset()
        for wait in open.values.flatMap(\.waits) { #expect(await wait.value.name == "reset") }
    }
}

extension Flights<String, Int>.Outcome {
    fileprivate var number: Int? { if case .value(let number) = self { number } else { nil } }
    fileprivate var name: String { String("\(self)".prefix { $0 != "(" }) }
}

import LetterheadTesting
import Synchronization
import Testing

@testable import Letterhead

@Suite(.timeLimit(.minutes(3))) struct SingleFlightTests {
    private let clock = TestClock()

    private func start(_ flight: SingleFlight<Int>, until gate: OneShot<Void>) {
        flight.start {
            await withTaskCancellationHandler {
                await gate.value
            } onCancel: {
                gate.set(())
            }
            flight.finish(with: Task.isCancelled ? 0 : 1)
        }
    }

    private func wait(
        for flight: SingleFlight<Int>, within limit: Duration? = nil
    ) throws -> Task<SingleFlight<Int>.Outcome, Never> {
        let ticket = try #require(flight.join())
        let clock = clock
        return Task { await flight.outcome(for: ticket, within: limit, on: clock) }
    }

    @Test func `all waiting tasks receive the value of one operation`() async throws {
        let (flight, gate) = (SingleFlight<Int>(needsWaiters: true), OneShot<Void>())
        let waits = try (0..<5).map { _ in try wait(for: flight) }
        start(flight, until: gate)
        gate.set(())
        for wait in waits { #expect(await wait.value.number == 1) }
        await flight.ended()
        #expect(flight.join() == nil && !flight.isOpen && flight.waiting == 0)
    }

    @Test(arguments: [true, false]) func `the operation ends with its last waiting task if it needs one`(
        needsWaiters: Bool
    ) async throws {
        let (flight, gate) = (SingleFlight<Int>(needsWaiters: needsWaiters), OneShot<Void>())
        let waits = try (0..<2).map { _ in try wait(for: flight) }
        start(flight, until: gate)
        waits[0].cancel()
        #expect(await waits[0].value.name == "cancelled" && flight.isOpen && flight.waiting == 1)
        waits[1].cancel()
        #expect(await waits[1].value.name == "cancelled" && flight.isOpen == !needsWaiters)
        #expect((gate.valueNow != nil) == needsWaiters)
        gate.set(())
        await flight.ended()
    }

    @Test func `a task whose limit passes leaves, and the others wait on`() async throws {
        let (flight, gate) = (SingleFlight<Int>(needsWaiters: true), OneShot<Void>())
        let (hasty, patient) = (try wait(for: flight, within: .seconds(1)), try wait(for: flight))
        start(flight, until: gate)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        #expect(await hasty.value.name == "late" && flight.waiting == 1)
        gate.set(())
        #expect(await patient.value.number == 1)
    }

    @Test func `a reset ends all waits and the operation, also when the operation awaits it`() async throws {
        let flight = SingleFlight<Int>(needsWaiters: false)
        let wait = try wait(for: flight)
        flight.start {
            flight.reset()
            await flight.ended()
            await Task { await flight.ended() }.value
            flight.finish(with: 1)
        }
        await flight.ended()
        #expect(await wait.value.name == "reset" && flight.join() == nil)
    }
}

extension SingleFlight<Int>.Outcome {
    fileprivate var number: Int? { if case .value(let number) = self { number } else { nil } }
    fileprivate var name: String { String("\(self)".prefix { $0 != "(" }) }
}

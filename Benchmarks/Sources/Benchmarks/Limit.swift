// SPDX-License-Identifier: MIT
import Foundation

/// What a comparison must keep.
enum Limit: Sendable {
    /// At most this part of the floor's time.
    case ratio(Double)
    /// At most so much more than the floor.
    case more(nanoseconds: Double)
    /// At most so many allocations an operation.
    case allocations(Double)
    /// At most so much more than the floor for each of a number of steps.
    case perStep(nanoseconds: Double, allocations: Double, steps: Int)
    /// At least this part of the floor's speed, by the clock on the wall.
    case speed(Double)
    /// At most this many times the floor's time of the processors.
    case processor(Double)

    /// How a measurement compares with the limit, and whether it keeps it.
    func verdict(on result: Measurement) -> (text: String, isKept: Bool) {
        switch self {
        case .ratio(let limit):
            let ratio = result.measured.nanoseconds / result.floor.nanoseconds
            return ("\(text(ratio)) of the floor, limit \(text(limit))", ratio <= limit)
        case .more(let limit):
            let time = result.measured.nanoseconds - result.floor.nanoseconds
            return ("\(text(time)) ns more than the floor, limit \(text(limit))", time <= limit)
        case .allocations(let limit):
            guard let count = result.measured.allocations else { return ("allocations are not counted here", true) }
            return ("\(text(count)) allocations, limit \(text(limit))", count <= limit)
        case .perStep(let nanoseconds, let allocations, let steps):
            let time = (result.measured.nanoseconds - result.floor.nanoseconds) / Double(steps)
            let start = "\(text(time)) ns a step, limit \(text(nanoseconds))"
            guard let floor = result.floor.allocations, let measured = result.measured.allocations else {
                return ("\(start); allocations are not counted here", time <= nanoseconds)
            }
            let count = (measured - floor) / Double(steps)
            return (
                "\(start); \(text(count)) allocations a step, limit \(text(allocations))",
                time <= nanoseconds && count <= allocations
            )
        case .speed, .processor: return ("only what waits for others is measured by it", false)
        }
    }

    /// How what waits for others compares with the limit, and whether it keeps it.
    func verdict(on measured: Round, beside floor: Round) -> (text: String, isKept: Bool) {
        switch self {
        case .speed(let limit):
            let ratio = floor.time / measured.time
            return ("\(text(ratio)) of the floor's speed, at least \(text(limit))", ratio >= limit)
        case .processor(let limit):
            let ratio = measured.processor / floor.processor
            return ("\(text(ratio)) of the floor's processor time, at most \(text(limit))", ratio <= limit)
        case .ratio, .more, .allocations, .perStep: return ("only what waits for nobody is measured by it", false)
        }
    }
}

/// A number with as many digits as are worth reading.
func text(_ number: Double) -> String {
    let digits = abs(number) < 0.1 ? 3 : abs(number) < 10 ? 2 : 0
    return String(format: "%.\(digits)f", number)
}

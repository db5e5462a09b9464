// SPDX-License-Identifier: MIT
/// One comparison: something of Letterhead's beside its floor, the same thing written by hand without the library.
///
/// To add one, write a file with an `extension Benchmark` that holds the floor's source and a static list, and name the
/// list in ``Benchmarks``:
///
/// ```swift
/// extension Benchmark {
///     static let escaping = [
///         Benchmark("escape 1 MB", floor: { byHand() }, measured: { byLetterhead() }, limits: .ratio(0.1))
///     ]
/// }
/// ```
///
/// Both are run once before anything is timed, and their outputs must agree.
struct Benchmark: Sendable {
    let name: String
    let floor: Routine
    let measured: Routine
    let limits: [Limit]
    let agree: @Sendable () async throws -> Bool

    /// - Parameters:
    ///   - name: what is done, as a phrase.
    ///   - floor: one operation by hand.
    ///   - measured: one operation with Letterhead.
    ///   - limits: what must be kept.
    ///   - areSame: whether the outputs are equal.
    init<Floor, Measured>(
        _ name: String,
        floor: @escaping @Sendable () async throws -> Floor,
        measured: @escaping @Sendable () async throws -> Measured,
        limits: Limit...,
        areSame: @escaping @Sendable (Floor, Measured) -> Bool
    ) {
        self.name = name
        self.floor = Routine(floor)
        self.measured = Routine(measured)
        self.limits = limits
        agree = { areSame(try await floor(), try await measured()) }
    }

    /// A comparison between outputs with one type, which must be equal.
    init<Output: Equatable & SendableMetatype>(
        _ name: String,
        floor: @escaping @Sendable () async throws -> Output,
        measured: @escaping @Sendable () async throws -> Output,
        limits: Limit...
    ) {
        self.name = name
        self.floor = Routine(floor)
        self.measured = Routine(measured)
        self.limits = limits
        agree = { try await floor() == measured() }
    }
}

/// An operation that can run many times. What it creates is consumed, so that the compiler cannot remove it.
struct Routine: Sendable {
    /// Runs it off the main actor, as a client does.
    let run: @concurrent @Sendable (_ times: Int) async throws -> Void

    init<Output>(_ once: @escaping @Sendable () async throws -> Output) {
        run = { times in
            for _ in 0..<times { consume(try await once()) }
        }
    }
}

/// Uses a value as far as the compiler can tell.
@inline(never)
@_optimize(none)
func consume<Value>(_ value: Value) {}

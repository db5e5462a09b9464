import Foundation
import Letterhead

/// Feeds mutated inputs to everything that reads what a server sends, in a process that may crash.
///
/// `fuzz COUNT [SEED]` exits with 0 and a line that names the seed; a crash or a hang is seen from outside, and repeats
/// with that seed.
@main
enum Fuzz {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        let count = arguments.first.flatMap { Int($0) } ?? 10_000
        let seed = arguments.dropFirst().first.flatMap { UInt64($0) } ?? UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        for reader in Reader.all {
            var mutator = Mutator(seed: seed)
            for number in 0..<(count / Reader.all.count) {
                reader.read(mutator.mutated(reader.samples[number % reader.samples.count]))
            }
        }
        for reader in Reader.all { expectLinear(reader) }
        print("ok: \(count) inputs, \(Reader.all.count) readers, seed \(seed)")
    }

    /// Twice the input takes at most two and a half times as long, with what a clock cannot tell allowed for.
    private static func expectLinear(_ reader: Reader) {
        for piece in reader.hostile {
            func cost(_ size: Int) -> Duration {
                let input = Array(String(repeating: piece, count: size / piece.utf8.count).utf8)
                return (0..<3).map { _ in ContinuousClock().measure { reader.read(input) } }.min() ?? .zero
            }
            var best = Double.infinity
            for _ in 0..<8 where best > 2.5 { best = min(best, cost(40_000) / max(cost(20_000), .microseconds(50))) }
            guard best > 2.5 else { continue }
            print("failed: \(reader.name) takes \(best) times as long for twice as much of \(piece.debugDescription)")
            exit(1)
        }
    }
}

// SPDX-License-Identifier: MIT
#if DEBUG && !LIBFUZZER
    import Foundation

    /// Feeds mutated inputs to everything that reads what a server sends, in a process that may crash.
    ///
    /// `fuzz COUNT [SEED]` exits with 0 and a line that names the seed. A crash or a hang is visible from outside, and
    /// occurs again with that seed.
    @main
    enum Fuzz {
        static func main() {
            alarm(300)  // The process that started it may be gone before it ends.
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
            for reader in Reader.all {
                expectLinear(reader)
                readNested(reader)
            }
            print("ok: \(count) inputs, \(Reader.all.count) readers, seed \(seed)")
        }

        /// Four times the input takes at most eight times the processor's time, where the square would be sixteen. What
        /// every reader must bear has 32 and 128 KB. All sizes are multiples of 7, because some readers choose the size
        /// of their pieces by the remainder.
        private static func expectLinear(_ reader: Reader) {
            // Combining marks that a normalization reorders, after every sample.
            let marks = reader.samples.map { (start: $0, piece: "\u{301}\u{316}", size: 10_500) }
            let hostile = reader.hostile.map { (start: "", piece: $0, size: 10_500) }
            let common = Reader.pieces.map { (start: "", piece: $0, size: 32_760) }
            for (start, piece, size) in marks + hostile + common {
                func cost(_ size: Int) -> Double {
                    let input = Array((start + String(repeating: piece, count: size / piece.utf8.count)).utf8)
                    return processorTime { reader.read(input) }
                }
                var best = Double.infinity
                for _ in 0..<16 where best > 8 { best = min(best, cost(4 * size) / max(cost(size), 0.000_05)) }
                guard best > 8 else { continue }
                print(
                    "failed: \(reader.name) takes \(best) times as long for four times \(piece.debugDescription) after \(start)"
                )
                exit(1)
            }
        }

        /// Reads what is nested deeper than any stack, on a thread with as small a stack as threads have on Apple
        /// platforms.
        private static func readNested(_ reader: Reader) {
            for level in reader.nested {
                for depth in [60, 400, 100_000] {
                    let text =
                        String(repeating: level.open, count: depth) + "1" + String(repeating: level.close, count: depth)
                    let isDone = DispatchSemaphore(value: 0)
                    let thread = Thread {
                        reader.read(Array(text.utf8))
                        isDone.signal()
                    }
                    thread.stackSize = 512 << 10
                    thread.start()
                    isDone.wait()
                }
            }
        }

        /// Seconds of this process alone: what else the machine does is not among them.
        private static func processorTime(_ work: () -> Void) -> Double {
            let before = clock()
            work()
            return Double(clock() - before) / Double(CLOCKS_PER_SEC)
        }
    }
#elseif !LIBFUZZER
    @main
    enum Fuzz {
        static func main() { fatalError("it reads internals, so it needs a debug build") }
    }
#endif

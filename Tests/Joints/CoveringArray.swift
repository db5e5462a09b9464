// SPDX-License-Identifier: MIT

/// Chooses cases so that few of them contain all pairs of levels, and the triples of some factors. After the last new
/// combination it begins again with other cases. The same seed results in the same cases.
struct CoveringArray {
    private var random: SeededRandom
    private let sizes = Factor.allCases.map(\.levels.count)
    /// The sets of factors that are tried in all combinations.
    private let sets: [[Int]]
    /// The sets that contain a factor.
    private let setsOf: [[Int]]
    /// Whether a case has contained a combination, by set and number.
    private var isSeen: [[Bool]] = []
    private var left: [(set: Int, number: Int)] = []

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        let factors = Factor.allCases.indices
        let pairs = factors.flatMap { a in factors.filter { $0 > a }.map { [a, $0] } }
        let sets = pairs + Factor.triples.map { $0.map(\.rawValue) }
        self.sets = sets
        setsOf = factors.map { factor in sets.indices.filter { sets[$0].contains(factor) } }
    }

    mutating func next() -> Case {
        var levels = nextCombination()
        for factor in levels.indices.filter({ levels[$0] < 0 }).shuffled(using: &random) {
            var news = Array(repeating: 0, count: sizes[factor])
            for level in news.indices {
                levels[factor] = level
                for set in setsOf[factor] {
                    if let number = number(of: levels, in: sets[set]), !isSeen[set][number] {
                        news[level] += sets[set].count == 2 ? 1 : 3
                    }
                }
            }
            levels[factor] = best(of: news)
        }
        for set in sets.indices {
            if let number = number(of: levels, in: sets[set]) { isSeen[set][number] = true }
        }
        return Case(levels: levels)
    }

    /// Returns the levels of the next new combination. The other factors are -1.
    private mutating func nextCombination() -> [Int] {
        while let (set, number) = left.popLast() {
            guard !isSeen[set][number] else { continue }
            var levels = sizes.map { _ in -1 }
            var rest = number
            for factor in sets[set].reversed() {
                levels[factor] = rest % sizes[factor]
                rest /= sizes[factor]
            }
            return levels
        }
        isSeen = sets.map { Array(repeating: false, count: $0.reduce(1) { $0 * sizes[$1] }) }
        // The triples are taken first, from the end.
        for count in [2, 3] {
            let numbers = sets.indices.filter { sets[$0].count == count }
                .flatMap { set in isSeen[set].indices.map { (set: set, number: $0) } }
            left += numbers.shuffled(using: &random)
        }
        return nextCombination()
    }

    /// The level with the most new combinations, or one of them at random if there are several. If none is new, the
    /// default is more probable, because a case with many unusual levels ends early.
    private mutating func best(of news: [Int]) -> Int {
        let highest = news.max() ?? 0
        if highest == 0, Double.random(in: 0..<1, using: &random) < 0.6 { return 0 }
        return news.indices.filter { news[$0] == highest }.randomElement(using: &random) ?? 0
    }

    /// The number of the combination that the levels contain, or nil while a factor of the set is not chosen.
    private func number(of levels: [Int], in set: [Int]) -> Int? {
        var number = 0
        for factor in set {
            guard levels[factor] >= 0 else { return nil }
            number = number * sizes[factor] + levels[factor]
        }
        return number
    }
}

/// SplitMix64: the same numbers for the same seed, on each platform.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

// SPDX-License-Identifier: MIT

/// Chooses cases so that few of them contain all pairs of levels, and all triples of some factors. After the last new
/// combination it begins again with other cases. The same seed results in the same cases.
struct CoveringArray {
    private var random: SeededRandom
    private let sizes = Factor.allCases.map(\.levels.count)
    private let triples = Factor.triples.map(\.rawValue)
    /// The index of the first level of each factor in the list of all levels.
    private let starts: [Int]
    private let levelCount: Int
    private var isPairSeen: [Bool] = []
    private var isTripleSeen: [[Bool]] = []
    private var triplesLeft: [(Int, [Int])] = []
    private var pairsLeft: [(Int, Int, Int, Int)] = []

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        var total = 0
        starts = Factor.allCases.map { factor in
            defer { total += factor.levels.count }
            return total
        }
        levelCount = total
        begin()
    }

    mutating func next() -> Case {
        if triplesLeft.isEmpty && pairsLeft.isEmpty { begin() }
        var levels = sizes.map { _ in -1 }
        if let (omitted, chosen) = nextTriple() {
            let factors = triples.indices.filter { $0 != omitted }
            for (index, factor) in factors.enumerated() { levels[triples[factor]] = chosen[index] }
            let news = (0..<sizes[triples[omitted]]).map { level in
                var full = levels
                full[triples[omitted]] = level
                return triples.indices.count { !isTripleSeen[$0][index(of: full, without: $0)] }
            }
            levels[triples[omitted]] = best(of: news)
        } else if let (a, b, c, d) = nextPair() {
            (levels[a], levels[c]) = (b, d)
        }
        for factor in levels.indices.filter({ levels[$0] < 0 }).shuffled(using: &random) {
            let others = levels.indices.filter { levels[$0] >= 0 }
            let news = (0..<sizes[factor]).map { level in
                others.count { !isPairSeen[pair(factor, level, $0, levels[$0])] }
            }
            levels[factor] = best(of: news)
        }
        for a in levels.indices { for b in levels.indices { isPairSeen[pair(a, levels[a], b, levels[b])] = true } }
        for omitted in triples.indices { isTripleSeen[omitted][index(of: levels, without: omitted)] = true }
        return Case(levels: levels)
    }

    private mutating func begin() {
        isPairSeen = Array(repeating: false, count: levelCount * levelCount)
        isTripleSeen = triples.indices.map { omitted in
            Array(
                repeating: false, count: triples.indices.filter { $0 != omitted }.reduce(1) { $0 * sizes[triples[$1]] })
        }
        triplesLeft = []
        for omitted in triples.indices {
            let factors = triples.indices.filter { $0 != omitted }.map { triples[$0] }
            for a in 0..<sizes[factors[0]] {
                for b in 0..<sizes[factors[1]] {
                    for c in 0..<sizes[factors[2]] { triplesLeft.append((omitted, [a, b, c])) }
                }
            }
        }
        triplesLeft.shuffle(using: &random)
        pairsLeft = []
        for a in sizes.indices {
            for c in sizes.indices where c > a {
                for b in 0..<sizes[a] { for d in 0..<sizes[c] { pairsLeft.append((a, b, c, d)) } }
            }
        }
        pairsLeft.shuffle(using: &random)
    }

    private mutating func nextTriple() -> (Int, [Int])? {
        while let (omitted, chosen) = triplesLeft.popLast() {
            var levels = sizes.map { _ in 0 }
            for (index, factor) in triples.indices.filter({ $0 != omitted }).enumerated() {
                levels[triples[factor]] = chosen[index]
            }
            if !isTripleSeen[omitted][index(of: levels, without: omitted)] { return (omitted, chosen) }
        }
        return nil
    }

    private mutating func nextPair() -> (Int, Int, Int, Int)? {
        while let (a, b, c, d) = pairsLeft.popLast() {
            if !isPairSeen[pair(a, b, c, d)] { return (a, b, c, d) }
        }
        return nil
    }

    /// The level with the most new combinations; one of them at random if there are several. If none is new, the default is
    /// more probable, because a case with many unusual levels ends early.
    private mutating func best(of news: [Int]) -> Int {
        let highest = news.max() ?? 0
        if highest == 0, Double.random(in: 0..<1, using: &random) < 0.6 { return 0 }
        return news.indices.filter { news[$0] == highest }.randomElement(using: &random) ?? 0
    }

    private func pair(_ a: Int, _ b: Int, _ c: Int, _ d: Int) -> Int { (starts[a] + b) * levelCount + starts[c] + d }

    private func index(of levels: [Int], without omitted: Int) -> Int {
        triples.indices.filter { $0 != omitted }.reduce(0) { $0 * sizes[triples[$1]] + levels[triples[$1]] }
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

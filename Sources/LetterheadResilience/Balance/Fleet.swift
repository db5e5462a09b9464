// SPDX-License-Identifier: MIT
import Letterhead

/// The replicas of a ``Balance``, and what it knows about them. It has no clock and no lock.
struct Fleet {
    /// A request that is sent to a replica.
    struct Permit {
        let member: Int
        /// Whether the request probes a replica that was left alone.
        let isProbe: Bool
        /// The number of resets before the request was sent. If a reset has occurred since, the outcome doesn't count.
        let era: Int
    }

    private struct Member {
        /// A number that no other member has, not even a former member.
        let number: Int
        let origin: HTTPOrigin
        var weight: Double
        var busy = 0
        var failures = 0
        /// When the replica is used again, or nil if it isn't left alone.
        var restsUntil: Duration?
        var isProbed = false
        /// How many requests hedges have overtaken since the last good response.
        var overtaken = 0
        /// When overtaken requests no longer count.
        var overtakenUntil = Duration.zero

        /// Returns the number of requests in progress. It includes requests that a hedge has recently overtaken and
        /// therefore cancelled, because a server that hangs would otherwise look idle.
        func load(at now: Duration) -> Int { overtakenUntil > now ? busy + overtaken : busy }

        func isAwake(at now: Duration) -> Bool {
            guard let restsUntil else { return true }
            return restsUntil <= now && !isProbed
        }
    }

    private var members: [Member] = []
    private var all: [Int] = []
    /// Whether a replica may be left alone. If not, the choice needs no filter.
    private var hasResting = false
    private var turn = 0
    private var lastNumber = 0
    /// The state of the random generator. The system generator would cost a system call for each number.
    private var seed = UInt64.random(in: 0 ... .max)
    private var era = 0

    init(_ replicas: [Replica]) { replace(with: replicas) }

    var count: Int { members.count }

    func resting(at now: Duration) -> [HTTPOrigin] { members.filter { !$0.isAwake(at: now) }.map(\.origin) }

    /// Returns whether there are replicas that were not tried and are not left alone.
    ///
    /// - Parameter now: the time, or nil to include replicas that are left alone.
    func hasOthers(than tried: [HTTPOrigin], at now: Duration?) -> Bool {
        members.contains { member in !tried.contains(member.origin) && now.map { member.isAwake(at: $0) } ?? true }
    }

    /// Replaces the list, and keeps what is known about replicas in both lists.
    mutating func replace(with replicas: [Replica]) {
        let old = members
        members = []
        for replica in replicas {
            guard let origin = replica.origin, !members.contains(where: { $0.origin == origin }) else { continue }
            lastNumber += 1
            let known = old.first { $0.origin == origin }
            members.append(known ?? Member(number: lastNumber, origin: origin, weight: 0))
            members[members.count - 1].weight = replica.weight
        }
        all = Array(members.indices)
        hasResting = members.contains { $0.restsUntil != nil }
    }

    /// Forgets the failures.
    mutating func reset() {
        era += 1
        hasResting = false
        for index in members.indices {
            (members[index].failures, members[index].restsUntil, members[index].isProbed) = (0, nil, false)
            members[index].overtaken = 0
        }
    }

    /// Chooses a replica in this order:
    ///
    /// 1. one that the load has not tried and that is not left alone
    /// 2. one that the load has not tried
    /// 3. one that is not left alone
    /// 4. any replica
    ///
    /// - Parameters:
    ///   - key: the key from a sticky policy.
    ///   - bound: the replica to choose, if it is in the list.
    mutating func choose(
        _ policy: Balance.Policy, key: String?, without tried: [HTTPOrigin], bound: HTTPOrigin?, at now: Duration,
        random: (() -> Double)?
    ) -> (HTTPOrigin, Permit)? {
        guard !members.isEmpty else { return nil }
        let untried = tried.isEmpty ? all : all.filter { !tried.contains(members[$0].origin) }
        let rest = untried.isEmpty ? all : untried
        let awake = hasResting ? rest.filter { members[$0].isAwake(at: now) } : rest
        let index =
            members.firstIndex { $0.origin == bound }
            ?? choose(policy, key, among: awake.isEmpty ? rest : awake, at: now, random)
        let isProbe = members[index].restsUntil != nil
        members[index].busy += 1
        if isProbe { members[index].isProbed = true }
        return (members[index].origin, Permit(member: members[index].number, isProbe: isProbe, era: era))
    }

    /// - Parameter candidates: at least one.
    private mutating func choose(
        _ policy: Balance.Policy, _ key: String?, among candidates: [Int], at now: Duration,
        _ random: (() -> Double)?
    ) -> Int {
        if candidates.count == 1 { return candidates[0] }
        switch policy.kind {
        case .ordered: return candidates[0]
        case .roundRobin:
            // The turn refers to the whole list and not to the candidates, so that the order stays the same while some
            // replicas are left alone.
            let index = candidates.first { $0 >= turn } ?? candidates[0]
            turn = (index + 1) % members.count
            return index
        case .lessBusyOfTwo:
            let first = Self.index(draw(random), of: candidates.count)
            let step = 1 + Self.index(draw(random), of: candidates.count - 1)
            let second = candidates[(first + step) % candidates.count]
            return members[second].load(at: now) < members[candidates[first]].load(at: now)
                ? second : candidates[first]
        case .weighted:
            var point = draw(random) * candidates.reduce(0) { $0 + members[$1].weight }
            for index in candidates {
                point -= members[index].weight
                if point < 0 { return index }
            }
            return candidates[candidates.count - 1]
        case .sticky:
            // Rendezvous hashing: each replica is hashed together with the key, and the highest hash wins.
            var best = (index: candidates[0], hash: UInt64(0))
            for index in candidates {
                let hash = Self.hash(key ?? "", members[index].origin)
                if hash >= best.hash { best = (index, hash) }
            }
            return best.index
        }
    }

    /// Counts a request outcome. ``leave(_:)`` must be called as well, when the body has ended.
    mutating func settle(_ permit: Permit, _ health: ServerHealth, at now: Duration, rest: Duration, after limit: Int) {
        guard permit.era == era, let index = index(of: permit) else { return }
        if permit.isProbe { members[index].isProbed = false }
        if health == .good { members[index].overtaken = 0 }
        switch health {
        case .unknown:
            // A cancelled probe has shown nothing, so the replica is left alone for the same time again. Without this,
            // the next probe of a server that hangs would follow at once, whenever a hedge has cancelled a probe.
            if permit.isProbe { members[index].restsUntil = now + rest }
        case .good:
            // A late response to an earlier request doesn't show that the replica has recovered.
            guard permit.isProbe || members[index].restsUntil == nil else { return }
            (members[index].failures, members[index].restsUntil) = (0, nil)
            if permit.isProbe { hasResting = members.contains { $0.restsUntil != nil } }
        case .bad:
            members[index].failures += 1
            guard permit.isProbe || members[index].failures >= limit else { return }
            members[index].restsUntil = now + rest
            hasResting = true
        }
    }

    mutating func leave(_ permit: Permit) {
        if let index = index(of: permit) { members[index].busy -= 1 }
    }

    /// Counts a request that a hedge has overtaken as still in progress. It counts until the server responds well, or
    /// until no request was overtaken for as long as a replica is left alone.
    mutating func keepOvertaken(_ permit: Permit, at now: Duration, rest: Duration) {
        guard permit.era == era, let index = index(of: permit) else { return }
        members[index].overtaken = members[index].load(at: now) - members[index].busy + 1
        members[index].overtakenUntil = now + rest
    }

    private func index(of permit: Permit) -> Int? {
        for index in members.indices where members[index].number == permit.member { return index }
        return nil
    }

    /// Returns a number from 0 to 1, from the closure or else from SplitMix64.
    private mutating func draw(_ random: (() -> Double)?) -> Double {
        if let random { return random() }
        seed &+= 0x9E37_79B9_7F4A_7C15
        var value = seed
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return Double((value ^ value >> 31) >> 11) / 9_007_199_254_740_992
    }

    private static func index(_ random: Double, of count: Int) -> Int {
        min(max(0, Int(random * Double(count))), count - 1)
    }

    /// FNV-1a with a final mix, because standard library hashes differ in each process.
    private static func hash(_ key: String, _ origin: HTTPOrigin) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in key.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        for byte in origin.description.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        hash = (hash ^ hash >> 33) &* 0xff51_afd7_ed55_8ccd
        return hash ^ hash >> 33
    }
}

// SPDX-License-Identifier: MIT

/// SHA-512 and SHA-512/256 (FIPS 180-4, 6.4 and 6.7), for digests of short texts.
enum SHA512Hash {
    static func hash(_ message: [UInt8]) -> [UInt8] { bytes(of: hash(message, from: initial)) }

    /// Returns the SHA-512/256 hash, which has 256 bits and starts from a different state (5.3.6).
    static func shortHash(_ message: [UInt8]) -> [UInt8] {
        Array(bytes(of: hash(message, from: shortInitial)).prefix(32))
    }

    private static func hash(_ message: [UInt8], from start: [UInt64]) -> [UInt64] {
        var state = start
        var bytes = message + [0x80] + [UInt8](repeating: 0, count: (239 - message.count % 128) % 128 + 8)
        bytes += Self.bytes(of: [8 * UInt64(message.count)])
        for block in stride(from: 0, to: bytes.count, by: 128) {
            var words = (0..<16).map { word in
                bytes[block + 8 * word..<block + 8 * word + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            }
            for index in 16..<80 {
                let (early, late) = (words[index - 15], words[index - 2])
                let small0 = rotated(early, 1) ^ rotated(early, 8) ^ (early >> 7)
                let small1 = rotated(late, 19) ^ rotated(late, 61) ^ (late >> 6)
                words.append(words[index - 16] &+ small0 &+ words[index - 7] &+ small1)
            }
            var (a, b, c, d) = (state[0], state[1], state[2], state[3])
            var (e, f, g, h) = (state[4], state[5], state[6], state[7])
            for round in 0..<80 {
                let sum1 = rotated(e, 14) ^ rotated(e, 18) ^ rotated(e, 41)
                let first = h &+ sum1 &+ ((e & f) ^ (~e & g)) &+ constants[round] &+ words[round]
                let sum0 = rotated(a, 28) ^ rotated(a, 34) ^ rotated(a, 39)
                let second = sum0 &+ ((a & b) ^ (a & c) ^ (b & c))
                (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
            }
            state = zip(state, [a, b, c, d, e, f, g, h]).map { $0 &+ $1 }
        }
        return state
    }

    private static func bytes(of words: [UInt64]) -> [UInt8] {
        words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) } }
    }

    private static func rotated(_ word: UInt64, _ count: UInt64) -> UInt64 { word >> count | word << (64 - count) }

    /// The square roots of the first 8 primes and the cube roots of the first 80 primes (5.3.5 and 4.2.3).
    private static let initial = primes.prefix(8).map { root(of: $0, 2) }
    private static let constants = primes.map { root(of: $0, 3) }
    private static let shortInitial = hash(Array("SHA-512/256".utf8), from: initial.map { $0 ^ 0xA5A5_A5A5_A5A5_A5A5 })
    private static let primes = (2..<410).filter { number in !(2..<number).contains { number % $0 == 0 } }

    /// Returns the first 64 fractional bits of a square root or a cube root.
    private static func root(of prime: Int, _ power: Int) -> UInt64 {
        let root = (0..<67).reversed().reduce(UInt128(0)) { root, bit in
            let next = root | 1 << bit
            let square = next.multipliedFullWidth(by: next)
            let cube = square.low.multipliedFullWidth(by: next).high + square.high * next
            return (power == 2 ? square.high < prime : cube < UInt128(prime) << 64) ? next : root
        }
        return UInt64(truncatingIfNeeded: root)
    }
}

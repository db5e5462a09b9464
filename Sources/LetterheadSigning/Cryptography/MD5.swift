// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// MD5 (RFC 1321), for servers that require it in digest authentication. It doesn't protect against an attacker, so no
/// other code may use it.
enum MD5Hash {
    static func hash(_ message: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476]
        // A one bit, zeros, and the length in bits, up to a multiple of 64 bytes (3.1 and 3.2).
        let length = (0..<8).map { UInt8(truncatingIfNeeded: (8 * UInt64(message.count)) >> (8 * UInt64($0))) }
        let padded = message + [0x80] + [UInt8](repeating: 0, count: (119 - message.count % 64) % 64) + length
        for start in stride(from: 0, to: padded.count, by: 64) { absorb(padded[start..<start + 64], into: &state) }
        return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * UInt32($0))) } }
    }

    /// Adds one block to the state, in four rounds (3.4).
    private static func absorb(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
        let words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { start in
            block[start..<start + 4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        for step in 0..<64 {
            let (mixed, word) =
                switch step / 16 {
                case 0: (b & c | ~b & d, step)
                case 1: (b & d | c & ~d, (5 * step + 1) % 16)
                case 2: (b ^ c ^ d, (3 * step + 5) % 16)
                default: (c ^ (b | ~d), 7 * step % 16)
                }
            let sum = a &+ mixed &+ constants[step] &+ words[word]
            let turn = turns[step / 16 * 4 + step % 4]
            (a, d, c, b) = (d, c, b, b &+ (sum << turn | sum >> (32 - turn)))
        }
        for (index, word) in [a, b, c, d].enumerated() { state[index] = state[index] &+ word }
    }

    private static let turns: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]

    /// For each step number, its absolute sine times 4294967296, as an integer.
    private static let constants = (1...64).map { UInt32(abs(sin(Double($0))) * 4_294_967_296) }
}

// SPDX-License-Identifier: MIT
package import LetterheadFoundation

#if canImport(CryptoKit)
    import CryptoKit
#endif

/// The SHA-256 hash (FIPS 180-4), computed by the platform where possible. The message may arrive in pieces, such as a
/// file.
package struct SHA256Hash: ~Copyable {
    #if canImport(CryptoKit)
        private var hash = CryptoKit.SHA256()
    #else
        private var hash = PlainSHA256()
    #endif

    package init() {}

    package static func hash(_ message: [UInt8]) -> [UInt8] {
        var hash = SHA256Hash()
        hash.update(message)
        return hash.finalize()
    }

    package mutating func update(_ bytes: some ContiguousBytes) {
        unsafe bytes.withUnsafeBytes { unsafe hash.update(bufferPointer: $0) }
    }

    package consuming func finalize() -> [UInt8] {
        #if canImport(CryptoKit)
            Array(hash.finalize())
        #else
            hash.finalize()
        #endif
    }
}

#if !canImport(CryptoKit)
    /// The algorithm (FIPS 180-4, 6.2) over whole blocks of 64 bytes. libcrypto computes it if the process has loaded
    /// it, usually with libcurl. Otherwise, Swift code does.
    @safe struct PlainSHA256 {
        /// Has the layout of the public `SHA256_CTX` in libcrypto, in which the state comes first.
        private var context = Self.start
        private let library: Absorb?
        /// The incomplete last block.
        private var rest: [UInt8] = []
        private var count: UInt64 = 0

        private static let start: [UInt32] =
            [
                0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
            ] + [UInt32](repeating: 0, count: 20)

        typealias Absorb = @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?, Int) -> Int32

        /// The function that hashes whole blocks, or nil if the process hasn't loaded libcrypto.
        static let libcrypto: Absorb? = unsafe dlsym(nil, "SHA256_Update").map {
            unsafe unsafeBitCast($0, to: Absorb.self)
        }

        init(usesLibrary: Bool = true) { unsafe library = usesLibrary ? Self.libcrypto : nil }

        mutating func update(bufferPointer bytes: UnsafeRawBufferPointer) {
            count += UInt64(bytes.count)
            var left = unsafe bytes[...]
            if !rest.isEmpty {
                let missing = unsafe left.prefix(64 - rest.count)
                unsafe rest += missing
                unsafe left = left.dropFirst(missing.count)
                guard rest.count == 64 else { return }
                unsafe rest.withUnsafeBytes { unsafe absorb($0) }
                rest.removeAll(keepingCapacity: true)
            }
            let whole = unsafe left.count / 64 * 64
            unsafe absorb(UnsafeRawBufferPointer(rebasing: left.prefix(whole)))
            unsafe rest += left.dropFirst(whole)
        }

        /// Appends a one bit, zeros, and the length in bits, up to a multiple of 64 bytes (5.1.1).
        consuming func finalize() -> [UInt8] {
            // Few allocations, because most messages are short.
            rest.reserveCapacity(128)
            rest.append(0x80)
            while rest.count % 64 != 56 { rest.append(0) }
            unsafe withUnsafeBytes(of: (count * 8).bigEndian) { unsafe rest.append(contentsOf: $0) }
            unsafe rest.withUnsafeBytes { unsafe absorb($0) }
            var hash: [UInt8] = []
            hash.reserveCapacity(32)
            for word in context[..<8] {
                unsafe withUnsafeBytes(of: word.bigEndian) { unsafe hash.append(contentsOf: $0) }
            }
            return hash
        }

        private mutating func absorb(_ blocks: UnsafeRawBufferPointer) {
            if let library = unsafe library {
                // It uses the pointers only until it returns.
                _ = unsafe library(&context, blocks.baseAddress, blocks.count)
            } else {
                var words = [UInt32](repeating: 0, count: 64)
                for start in stride(from: 0, to: blocks.count, by: 64) { unsafe mix(blocks, from: start, &words) }
            }
        }

        private mutating func mix(_ bytes: UnsafeRawBufferPointer, from start: Int, _ words: inout [UInt32]) {
            // Each block has 16 words.
            for index in 0..<16 {
                let word = unsafe bytes.loadUnaligned(fromByteOffset: start + 4 * index, as: UInt32.self)
                words[index] = UInt32(bigEndian: word)
            }
            for index in 16..<64 {
                let (early, late) = (words[index - 15], words[index - 2])
                let small0 = rotated(early, 7) ^ rotated(early, 18) ^ (early >> 3)
                let small1 = rotated(late, 17) ^ rotated(late, 19) ^ (late >> 10)
                words[index] = words[index - 16] &+ small0 &+ words[index - 7] &+ small1
            }
            var (a, b, c, d) = (context[0], context[1], context[2], context[3])
            var (e, f, g, h) = (context[4], context[5], context[6], context[7])
            for round in 0..<64 {
                let sum1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
                let first = h &+ sum1 &+ ((e & f) ^ (~e & g)) &+ Self.constants[round] &+ words[round]
                let sum0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
                let second = sum0 &+ ((a & b) ^ (a & c) ^ (b & c))
                (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
            }
            for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { context[index] &+= word }
        }

        private func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }

        private static let constants: [UInt32] = [
            0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
            0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
            0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
            0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
            0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
            0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
            0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
            0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
        ]
    }
#endif

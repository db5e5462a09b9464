// SPDX-License-Identifier: MIT
#if DEBUG
    /// Makes an input different from its sample in a few places. The same seed makes the same inputs.
    struct Mutator: RandomNumberGenerator {
        private var state: UInt64
        /// Delimiters, and what a character before it absorbs: combining marks, variation selectors, joiners,
        /// modifiers.
        private static let marks = Array(
            "\"\\,;:=<>/?#&%[]{}()@\r\n\t\0 \u{FEFF}\u{301}\u{316}\u{FE0F}\u{E0100}\u{200C}\u{200D}\u{1F3FD}\u{37E}"
                .unicodeScalars)

        init(seed: UInt64) { state = seed }

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }

        mutating func mutated(_ sample: String) -> [UInt8] {
            var bytes = Array(sample.utf8)
            for _ in 0..<Int.random(in: 1...6, using: &self) { mutate(&bytes) }
            return bytes
        }

        private mutating func mutate(_ bytes: inout [UInt8]) {
            let place = Int.random(in: 0...bytes.count, using: &self)
            let length = Int.random(in: 0...min(8, bytes.count - place), using: &self)
            switch Int.random(in: 0..<5, using: &self) {
            case 0: bytes.insert(contentsOf: String(Self.marks.randomElement(using: &self) ?? "\0").utf8, at: place)
            case 1: bytes.insert(UInt8.random(in: 0...255, using: &self), at: place)
            case 2: bytes.removeSubrange(place..<(place + length))
            case 3: bytes.insert(contentsOf: bytes[place..<(place + length)], at: place)
            default: if place < bytes.count { bytes[place] = UInt8.random(in: 0...255, using: &self) }
            }
        }
    }
#endif

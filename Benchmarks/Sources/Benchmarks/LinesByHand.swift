// SPDX-License-Identifier: MIT
import Foundation

/// Lines that are found with `memchr`. A string is made of each. This is the floor of the benchmarks of lines.
struct LinesByHand {
    /// The beginning of a line that the next piece continues.
    private var rest = Data()

    /// Returns the number of bytes of the lines that end in a piece, with their endings.
    mutating func count(_ piece: Data) -> Int {
        piece.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return 0 }
            var (start, count) = (0, 0)
            while start < bytes.count, let end = memchr(base + start, 10, bytes.count - start) {
                let offset = base.distance(to: UnsafeRawPointer(end))
                let line = UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
                if rest.isEmpty {
                    count += String(decoding: line, as: UTF8.self).utf8.count + 1
                } else {
                    rest.append(contentsOf: line)
                    count += String(decoding: rest, as: UTF8.self).utf8.count + 1
                    rest.removeAll()
                }
                start = offset + 1
            }
            rest.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start...]))
            return count
        }
    }
}

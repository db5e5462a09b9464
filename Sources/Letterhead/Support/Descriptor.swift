// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// Reading and writing by the number of an open file, also if a signal interrupts the call.
package enum Descriptor {
    /// Writes all bytes. Returns false, with the reason in `errno`, if some of them cannot be written.
    package static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = LetterheadFoundation.write(descriptor, part.baseAddress, part.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Reads at most as many bytes as the buffer has. Returns 0 at the end of the file, and a negative number, with the
    /// reason in `errno`, for an error.
    static func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            let count = LetterheadFoundation.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 || errno != EINTR { return count }
        }
    }
}

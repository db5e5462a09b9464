// SPDX-License-Identifier: MIT
package import LetterheadFoundation

/// Writes to an open file by its descriptor. If a signal interrupts the call, it is repeated.
extension Data {
    /// Writes all bytes to a file descriptor. Returns false, with the reason in `errno`, if it cannot write all.
    package func write(to descriptor: Int32) -> Bool {
        var rest = self
        while !rest.isEmpty {
            // The system reads the bytes before the closure returns.
            let sent = unsafe rest.withUnsafeBytes {
                unsafe LetterheadFoundation.write(descriptor, $0.baseAddress, $0.count)
            }
            if sent < 0, errno == EINTR { continue }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }
}

/// Reads from an open file by its descriptor. If a signal interrupts the call, it is repeated.
enum Descriptor {
    /// Reads until the buffer is full or the file ends, and returns the number of bytes. It is negative, with the
    /// reason in `errno`, for an error.
    static func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var filled = 0
        while filled < buffer.count {
            // The system writes at most the bytes that are left in the buffer.
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let count = unsafe LetterheadFoundation.read(descriptor, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count < 0 ? count : filled }
            filled += count
        }
        return filled
    }
}

// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// A failed system call, with the system's reason.
struct SocketFailure: Error, CustomStringConvertible {
    let call: String
    let code: Int32

    /// Creates a failure from `errno`. Call it immediately after the system call.
    init(_ call: String) {
        self.call = call
        code = errno
    }

    /// Whether the process or the system has no free descriptors.
    var isExhaustion: Bool { code == EMFILE || code == ENFILE || code == ENOBUFS || code == ENOMEM }

    /// Whether the peer reset the connection.
    var isReset: Bool { code == ECONNRESET || code == EPIPE }

    // A known error number's text is a constant.
    var description: String { unsafe "\(call): \(String(cString: strerror(code)))" }
}

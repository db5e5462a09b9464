#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A call to the system that did not work, with the system's reason.
struct SocketFailure: Error, CustomStringConvertible {
    let call: String
    let code: Int32

    /// Takes the reason from `errno`, so it is made directly after the call.
    init(_ call: String) {
        self.call = call
        code = errno
    }

    /// Whether the process or the system has no descriptors left.
    var isExhaustion: Bool { code == EMFILE || code == ENFILE || code == ENOBUFS || code == ENOMEM }

    /// Whether the peer ended the connection by force.
    var isReset: Bool { code == ECONNRESET || code == EPIPE }

    var description: String { "\(call): \(strerror(code).map { String(cString: $0) } ?? "error \(code)")" }
}

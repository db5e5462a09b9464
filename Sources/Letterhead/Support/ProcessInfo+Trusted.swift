// SPDX-License-Identifier: MIT
package import LetterheadFoundation

#if os(Linux)
    import CLibcurl
#endif

/// The environment variables that decide which authorities, proxies and credentials a program trusts.
///
/// A program with more rights than its caller, such as a set-user-ID program, has none of them, because the caller sets
/// the variables. This is the rule of `secure_getenv`.
extension ProcessInfo {
    /// Whether the program has rights that its caller doesn't have.
    static let isElevated: Bool = {
        #if os(Linux)
            return getauxval(UInt(AT_SECURE)) != 0
        #elseif canImport(Darwin)
            return issetugid() != 0
        #else
            return getuid() != geteuid() || getgid() != getegid()
        #endif
    }()

    /// The current environment variables, or none if ``isElevated`` is true.
    package static var trustedVariables: [String: String] { isElevated ? [:] : ProcessInfo.processInfo.environment }
}

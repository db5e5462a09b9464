// SPDX-License-Identifier: MIT
/// The reason that TLS is not available, or has failed on a connection.
struct TLSFailure: Error, CustomStringConvertible {
    let description: String
}

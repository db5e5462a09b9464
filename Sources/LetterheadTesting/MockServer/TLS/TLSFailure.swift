/// Why there is no TLS, or none on this connection.
struct TLSFailure: Error, CustomStringConvertible {
    let description: String
}

import Foundation

/// What a transfer brought, in bytes: parsed by the one who asked, so that the thread of all transfers does not wait.
struct CurlReply: Sendable {
    var head: [UInt8] = []
    var trailers: [UInt8] = []
    var body = Data()
}

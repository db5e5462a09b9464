import Foundation

/// What a base URL gives to a request that leaves it open.
struct BaseURL: Hashable, Sendable {
    let scheme: String?
    let userInfo: String?
    /// nil when there is none, or an empty one.
    let host: String?
    let port: Int?
    /// What a relative path is put behind.
    let path: String
    let query: QueryParameters

    init(_ url: URL) { self = url.absoluteString.withBytes { Self($0) } }

    /// Inlined, as what takes its parts is: else each of them is copied.
    @inline(__always)
    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        let ranges = URLRanges(bytes)
        let authority = ranges.authority.map { AuthorityRanges(bytes, in: $0) }
        scheme = ranges.scheme.map { bytes.text($0) }
        userInfo = authority?.userInfo.map { bytes.text($0) }
        host = authority.flatMap { $0.host.isEmpty ? nil : bytes.text($0.host) }
        port = authority?.port
        path = bytes.text(ranges.path)
        query = ranges.query.map { QueryParameters(escaped: bytes.text($0)) } ?? QueryParameters()
    }
}

import Foundation

/// What a base URL gives to a request that leaves it open.
struct BaseURL: BaseURLParts, Hashable, Sendable {
    let scheme: String?
    let userInfo: String?
    /// nil when there is none, or an empty one.
    let host: String?
    let port: Int?
    /// What a relative path is put behind.
    let path: String
    let query: QueryParameters

    init(_ url: URL) { self = url.absoluteString.withBytes { Self(BaseURLBytes($0)) } }

    var hasQuery: Bool { !query.isEmpty }

    private init(_ bytes: BaseURLBytes) {
        scheme = bytes.scheme
        userInfo = bytes.userInfo
        host = bytes.host
        port = bytes.port
        path = bytes.path
        query = bytes.query
    }
}

/// The same as a ``BaseURL`` in the bytes of one: a part is made a text when it is asked for, and only then.
struct BaseURLBytes: BaseURLParts {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let ranges: URLRanges
    private let authority: AuthorityRanges?

    @inline(__always)
    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        ranges = URLRanges(bytes)
        authority = ranges.authority.map { AuthorityRanges(bytes, in: $0) }
    }

    var scheme: String? { ranges.scheme.map { bytes.text($0) } }
    var userInfo: String? { authority?.userInfo.map { bytes.text($0) } }
    var host: String? { authority.flatMap { $0.host.isEmpty ? nil : bytes.text($0.host) } }
    var port: Int? { authority?.port }
    var path: String { bytes.text(ranges.path) }
    var pathBytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: bytes[ranges.path]) }
    var hasQuery: Bool { ranges.query != nil }
    var query: QueryParameters {
        ranges.query.map { QueryParameters(escaped: bytes.text($0)) } ?? QueryParameters()
    }
}

/// The parts of a base URL other than its path.
protocol BaseURLParts {
    var scheme: String? { get }
    var userInfo: String? { get }
    var host: String? { get }
    var port: Int? { get }
    var hasQuery: Bool { get }
    var query: QueryParameters { get }
}

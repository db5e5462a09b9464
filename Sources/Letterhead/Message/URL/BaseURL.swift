import Foundation

/// The parts of a base URL that fill in the missing parts of a request.
struct BaseURL: BaseURLParts, Hashable, Sendable {
    let scheme: String?
    let userInfo: String?
    /// The host; nil if it is missing or empty.
    let host: String?
    let port: Int?
    /// The prefix of relative paths.
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

/// A base URL that refers to the bytes of a URL. It creates a string for a part only when that part is read.
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

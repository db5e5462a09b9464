/// The same as a ``BaseURL`` in the bytes of one: a part is made a text when it is asked for, and only then.
struct BaseURLBytes {
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

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

    init(_ url: URL) { self = url.absoluteString.withBytes { Self(BaseURLBytes($0)) } }

    private init(_ bytes: BaseURLBytes) {
        scheme = bytes.scheme
        userInfo = bytes.userInfo
        host = bytes.host
        port = bytes.port
        path = bytes.path
        query = bytes.query
    }
}

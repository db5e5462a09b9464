// SPDX-License-Identifier: MIT

/// The parts of a base URL. They fill in the parts that a request doesn't have.
struct BaseURL: BaseURLParts, Hashable, Sendable {
    let scheme: String?
    let userInfo: String?
    let host: String?
    let port: Int?
    let path: String
    let query: QueryParameters
    /// Nil without a host.
    let origin: HTTPOrigin?

    init(_ text: String) { self = text.withBytes { unsafe Self(BaseURLBytes($0)) } }

    /// Returns the rule that a base URL text breaks, or nil if it is an absolute http or https URL.
    func defect(in text: String) -> String? {
        let isURL = ASCII.allBytes(of: text) { (0x21...0x7E).contains($0) && !#""<>\^`{|}"#.utf8.contains($0) }
        guard isURL else {
            return "the base URL contains a character that must be percent-encoded"
        }
        guard let scheme, ["http", "https"].contains(ASCII.lowercased(scheme)) else {
            return "the base URL begins with neither https:// nor http:// (write it as https://host/path)"
        }
        guard host != nil else { return "the base URL has no host (write it as https://host/path)" }
        return text.utf8.contains(UInt8(ascii: "#")) ? "the base URL has a fragment, which is never sent" : nil
    }

    var hasQuery: Bool { !query.isEmpty }

    private init(_ bytes: BaseURLBytes) {
        scheme = bytes.scheme
        userInfo = bytes.userInfo
        host = bytes.host
        port = bytes.port
        path = bytes.path
        query = bytes.query
        origin = bytes.host.map { HTTPOrigin(scheme: bytes.scheme ?? "https", host: $0, port: bytes.port) }
    }
}

/// A base URL that refers to bytes elsewhere. It creates a string for a part only when that part is read.
///
/// It exists only while the bytes do: closures of `withBytes` create it and don't keep it. The ranges are positions in
/// the bytes.
@safe struct BaseURLBytes: BaseURLParts {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let ranges: URLRanges
    private let authority: AuthorityRanges?

    @inline(__always)
    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        unsafe self.bytes = bytes
        ranges = unsafe URLRanges(bytes)
        authority = ranges.authority.map { unsafe AuthorityRanges(bytes, in: $0) }
    }

    var scheme: String? { ranges.scheme.map { unsafe bytes.text($0) } }
    var userInfo: String? { authority?.userInfo.map { unsafe bytes.text($0) } }
    var host: String? { authority.flatMap { unsafe $0.host.isEmpty ? nil : bytes.text($0.host) } }
    var port: Int? { authority?.port }
    var path: String { unsafe bytes.text(ranges.path) }
    var pathBytes: UnsafeBufferPointer<UInt8> { unsafe UnsafeBufferPointer(rebasing: bytes[ranges.path]) }
    var hasQuery: Bool { ranges.query != nil }
    var query: QueryParameters {
        ranges.query.map { unsafe QueryParameters(ofURL: bytes.text($0)) } ?? QueryParameters()
    }
}

protocol BaseURLParts {
    var scheme: String? { get }
    var userInfo: String? { get }
    var host: String? { get }
    var port: Int? { get }
    var hasQuery: Bool { get }
    var query: QueryParameters { get }
}

/// A scheme, a host and a port (RFC 6454). Credentials, environments, and cookies that a request sets itself belong to
/// an origin.
///
/// Scheme and host are compared in lower case. An origin without a port equals one with the default port for its
/// scheme.
public struct HTTPOrigin: Sendable, CustomStringConvertible {
    /// The scheme in lower case.
    public let scheme: String
    /// The host in lower case. An IPv6 address is in brackets.
    public let host: String
    /// The port, or the default port for the scheme if none was set.
    public let port: Int

    /// Creates an origin. A port of nil is the default port for the scheme.
    public init(scheme: String, host: String, port: Int? = nil) {
        self.scheme = ASCII.lowercased(scheme)
        self.host = ASCII.lowercased(host)
        self.port = port ?? (self.scheme.isSame(as: "http") ? 80 : 443)
    }

    /// Creates the origin of a URL. Returns nil without a host, and for a host that isn't ASCII, because no request is
    /// sent to such a host.
    init?(_ parts: URLParts) {
        guard let (host, port) = parts.hostAndPort, !host.isEmpty, ASCII.isASCII(host) else { return nil }
        self.init(scheme: parts.scheme ?? "https", host: host, port: port)
    }

    /// Whether the network can't read what is sent to the origin: the scheme is https, or the host is this machine.
    /// Credentials and cookies with `Secure` are sent only to such origins.
    public var isSecure: Bool {
        if scheme.isSame(as: "https") || host.isSame(as: "localhost") || host.isSame(as: "[::1]") { return true }
        let numbers = host.split(at: ".", omittingEmpty: false).map { number in
            // Some resolvers read a number with a leading zero as octal, so 0127.0.0.1 can be a different machine.
            number.begins(with: "0") && number.utf8.count > 1 || number.begins(with: "+") ? nil : UInt8(number)
        }
        return numbers.count == 4 && numbers.first == 127 && !numbers.contains(nil)
    }

    /// The origin as `https://example.com`, with the port if it isn't the default. Control characters are escaped.
    public var description: String {
        // A link from a server can contain any host.
        let shown = "\(Redaction.visible(scheme))://\(Redaction.visible(host))"
        return port == (scheme.isSame(as: "http") ? 80 : 443) ? shown : "\(shown):\(port)"
    }
}

extension HTTPOrigin: Hashable {
    public static func == (left: HTTPOrigin, right: HTTPOrigin) -> Bool {
        left.port == right.port && left.host.isSame(as: right.host) && left.scheme.isSame(as: right.scheme)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: host)
        hasher.combine(port)
    }
}

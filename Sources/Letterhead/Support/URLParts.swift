/// The texts of a URI reference's parts, byte for byte as ``URLRanges`` finds them.
package struct URLParts: Hashable, Sendable {
    package var scheme: String?
    package var authority: String?
    package var path = ""
    package var query: String?
    package var fragment: String?

    package init(_ text: String) {
        withUnsafeMutablePointer(to: &self) { parts in
            text.withBytes { bytes in
                let ranges = URLRanges(bytes)
                parts.pointee.scheme = ranges.scheme.map { bytes.text($0) }
                parts.pointee.authority = ranges.authority.map { bytes.text($0) }
                parts.pointee.path = bytes.text(ranges.path)
                parts.pointee.query = ranges.query.map { bytes.text($0) }
                parts.pointee.fragment = ranges.fragment.map { bytes.text($0) }
            }
        }
    }

    /// What stands before the last `@` of the authority: user and password.
    package var userInfo: String? {
        authority?.withBytes { bytes in
            AuthorityRanges(bytes, in: 0..<bytes.count).userInfo.map { bytes.text($0) }
        }
    }

    /// Host and port; a port that is no number stays part of the host, where it is refused.
    package var hostAndPort: (host: String, port: Int?)? {
        authority?.withBytes { bytes in
            let ranges = AuthorityRanges(bytes, in: 0..<bytes.count)
            return (bytes.text(ranges.host), ranges.port)
        }
    }

    /// Whether a text begins with a scheme and `://`, or with `//`: it names a host.
    package static func namesHost(_ text: String) -> Bool { text.withBytes { URLRanges.beginWithHost($0) } }
}

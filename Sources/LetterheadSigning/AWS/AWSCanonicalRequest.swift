// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// The normal form of a request that both sides hash.
struct AWSCanonicalRequest {
    private let method: String
    private let path: String
    private let query: String
    /// The covered headers, in lower case and sorted.
    let headers: [(name: String, value: String)]

    init(_ request: HTTPRequest, isS3: Bool) {
        method = request.method.rawValue
        path = Self.path(request.path.string, isS3: isS3)
        query = Self.query(request.query.escaped)
        headers = Self.headers(request.framedHeaders(), host: request.hostField)
    }

    var signedHeaders: String { headers.map(\.name).joined(separator: ";") }

    func text(payload: String) -> String {
        let fields = headers.map { "\($0.name):\($0.value)\n" }.joined()
        return [method, path, query, fields, signedHeaders, payload].joined(separator: "\n")
    }

    /// S3 escapes the key once. All others normalize the path, and escape it once more as it is sent.
    private static func path(_ path: String, isS3: Bool) -> String {
        var segments: [String] = []
        let parts = path.split(at: "/", omittingEmpty: false)
        if isS3 {
            segments = parts.dropFirst(path.begins(with: "/") ? 1 : 0).map { PercentEncoding.normalized($0.utf8) }
        } else {
            for part in parts where !part.isEmpty && !part.isSame(as: ".") {
                if part.isSame(as: "..") { _ = segments.popLast() } else { segments.append(String(part)) }
            }
            if !segments.isEmpty, let last = parts.last, last.isEmpty || last.isSame(as: ".") || last.isSame(as: "..") {
                segments.append("")
            }
            segments = segments.map { PercentEncoding.escape($0, .unreserved) }
        }
        return "/" + segments.joined(separator: "/")
    }

    private static func query(_ query: String) -> String {
        let items = query.split(at: "&").map { item -> (name: String, value: String) in
            let pair = item.cut(at: "=") ?? (item, "")
            return (PercentEncoding.normalized(pair.head.utf8), PercentEncoding.normalized(pair.tail.utf8))
        }
        return items.sorted { ($0.name, $0.value) < ($1.name, $1.value) }.map { "\($0.name)=\($0.value)" }
            .joined(separator: "&")
    }

    private static func headers(_ headers: HTTPHeaders, host: String) -> [(name: String, value: String)] {
        var values = ["host": host]
        for field in headers {
            let name = ASCII.lowercased(field.name.rawValue)
            guard name != "host", !unsigned.contains(name) else { continue }
            let value = field.value.split(at: " ").joined(separator: " ")
            values[name] = values[name].map { "\($0),\(value)" } ?? value
        }
        return values.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    }

    /// What belongs to a connection, what links and proxies change, and the signature itself.
    private static let unsigned: Set<String> = [
        "accept", "accept-encoding", "authorization", "cache-control", "connection", "cookie", "expect", "from",
        "if-match", "if-modified-since", "if-none-match", "if-unmodified-since", "keep-alive", "pragma",
        "proxy-authorization", "referer", "te", "traceparent", "tracestate", "trailer", "transfer-encoding", "upgrade",
        "user-agent", "via", "x-amzn-trace-id",
    ]
}

// SPDX-License-Identifier: MIT
public import Letterhead
import LetterheadFoundation

extension Cassette {
    /// Decides when a request matches a cassette entry.
    ///
    /// By default, the method, the URL and the body must be equal, and headers are not compared. The order of query
    /// items and JSON members has no effect. A cassette never compares multipart boundaries or secret values, and
    /// compares idempotency keys and trace headers only if ``Headers/only(_:)`` names them.
    public struct Matching: Sendable {
        /// The headers that are compared.
        public enum Headers: Sendable {
            /// No headers.
            case none
            /// Only these headers.
            case only(Set<HTTPHeaders.Name>)
            /// All headers, except these, secret headers, idempotency keys, trace headers, Date, Content-Length, Host
            /// and Connection.
            case allExcept(Set<HTTPHeaders.Name>)
        }

        /// The headers that are compared. Default: none.
        public var headers: Headers
        /// The query items to ignore, by name. Default: empty.
        public var ignoredQuery: Set<String>
        /// The values to ignore in a JSON body, as paths such as `$.sentAt`, `$.items[*].id` and `$['a.b']`. Creating a
        /// cassette with any other form of a path throws an error. Default: empty.
        public var ignoredJSONPaths: Set<String>
        /// Whether bodies are compared. Default: true.
        public var comparesBody: Bool
        /// Whether a request can be replayed again when all entries that match it are used. Default: false.
        public var repeatsEntries: Bool

        /// Creates rules. The properties list the defaults.
        public init(
            headers: Headers = .none, ignoredQuery: Set<String> = [], ignoredJSONPaths: Set<String> = [],
            comparesBody: Bool = true, repeatsEntries: Bool = false
        ) {
            self.headers = headers
            self.ignoredQuery = ignoredQuery
            self.ignoredJSONPaths = ignoredJSONPaths
            self.comparesBody = comparesBody
            self.repeatsEntries = repeatsEntries
        }
    }
}

/// How requests are compared.
struct CassetteRules {
    let matching: Cassette.Matching
    let redaction: ArchiveRedaction
    let paths: [JSONPath]

    init(_ matching: Cassette.Matching, _ redaction: ArchiveRedaction) throws {
        (self.matching, self.redaction) = (matching, redaction)
        paths = try matching.ignoredJSONPaths.map { try JSONPath($0) }
    }
}

/// What is compared between two requests.
struct CassetteKey: Equatable {
    let method: String
    let address: String
    let query: [String]
    let headers: [String]
    var body: CassetteBody

    init(_ request: HAR.Request, _ rules: CassetteRules) {
        let (matching, redaction) = (rules.matching, rules.redaction)
        method = ASCII.uppercased(request.method)
        var parts = URLParts(redaction.text(request.url))
        let items = QueryParameters(escaped: parts.query ?? "").filter { !matching.ignoredQuery.contains($0.name) }
        query = items.map { item in
            let isSecret = item.name.isEmpty || redaction.names.isSecret(parameter: item.name)
            return item.value.map { "\(item.name)=\(isSecret ? ArchiveRedaction.placeholder : $0)" } ?? item.name
        }.sorted()
        (parts.query, parts.fragment) = (nil, nil)
        if parts.path.isEmpty { parts.path = "/" }
        address = parts.string
        headers = matching.compared((request.headers ?? []).headers, redaction)
        body = matching.comparesBody ? CassetteBody(request.postData, ignoring: rules.paths, redaction) : .none
    }

    /// Returns the differences from an entry's key, with weights. The nearest entry has the smallest sum.
    func differences(from entry: CassetteKey) -> [(weight: Int, text: String)] {
        var found: [(weight: Int, text: String)] = []
        if method != entry.method { found.append((3, "the method is \(method), not \(entry.method)")) }
        if address != entry.address { found.append((6, "the URL is not \(entry.address)")) }
        found += Self.differences("query item", query, entry.query)
        found += Self.differences("header", headers, entry.headers)
        if let text = body.difference(from: entry.body) { found.append((2, text)) }
        return found
    }

    private static func differences(
        _ kind: String, _ sent: [String], _ recorded: [String]
    ) -> [(weight: Int, text: String)] {
        let change = recorded.difference(from: sent)
        return change.map { change in
            switch change {
            case .remove(_, let text, _): (1, "the \(kind) \(text) is not recorded")
            case .insert(_, let text, _): (1, "the \(kind) \(text) is missing")
            }
        }
    }
}

extension Cassette.Matching {
    /// The headers that ``Headers/allExcept(_:)`` never compares: they describe the time, the connection or the body's
    /// length.
    private static let neverCompared: Set<HTTPHeaders.Name> = [.date, .contentLength, .host, .connection]

    fileprivate func compared(_ headers: HTTPHeaders, _ redaction: ArchiveRedaction) -> [String] {
        headers.filter { field in
            let isNever =
                Self.neverCompared.contains(field.name) || VolatileHeaders.contain(field.name)
                || redaction.names.isSecret(header: field.name)
            switch self.headers {
            case .none: return false
            case .only(let names): return names.contains(field.name)
            case .allExcept(let names): return !isNever && !names.contains(field.name)
            }
        }.map { field in
            let isBoundary = field.name == .contentType && MediaType(field.value)?.isMultipart == true
            return "\(ASCII.lowercased(field.name.rawValue)): \(isBoundary ? "multipart" : field.value)"
        }.sorted()
    }
}

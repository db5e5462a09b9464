// SPDX-License-Identifier: MIT
public import Letterhead
import LetterheadFoundation

extension Cassette {
    /// The rules by which a request matches an entry of a cassette.
    ///
    /// By default, the method, the URL and the body must be equal. The order of query items and JSON members doesn't
    /// matter. Multipart boundaries and secret values are never compared.
    public struct Matching: Sendable {
        /// The headers that must be equal as well. Default: none.
        public var headers: Set<HTTPHeaders.Name>
        /// The names of query items to ignore. Default: empty.
        public var ignoredQuery: Set<String>
        /// The values to ignore in a JSON body, as paths such as `$.sentAt`, `$.items[*].id` and `$['a.b']`. Default:
        /// empty.
        ///
        /// If a path has a different form, creating the cassette throws an error.
        public var ignoredJSONPaths: Set<String>
        /// Whether the bodies must be equal. Default: true.
        public var comparesBody: Bool
        /// Whether the last matching entry responds again once all matching entries have been used. If it is false,
        /// such a request counts as one without an entry. Default: false.
        public var repeatsEntries: Bool

        /// Creates rules. The properties describe the parameters and their defaults.
        public init(
            headers: Set<HTTPHeaders.Name> = [], ignoredQuery: Set<String> = [], ignoredJSONPaths: Set<String> = [],
            comparesBody: Bool = true, repeatsEntries: Bool = false
        ) {
            (self.headers, self.ignoredQuery, self.ignoredJSONPaths) = (headers, ignoredQuery, ignoredJSONPaths)
            (self.comparesBody, self.repeatsEntries) = (comparesBody, repeatsEntries)
        }
    }
}

/// The parts of a request that are compared.
struct CassetteKey: Equatable {
    let method: String
    let address: String
    let query: [String]
    let headers: [String]
    var body: CassetteBody

    init(
        _ request: HAR.Request, _ matching: Cassette.Matching, ignoring paths: [JSONPath], _ redaction: ArchiveRedaction
    ) {
        method = ASCII.uppercased(request.method)
        var parts = URLParts(redaction.text(request.url))
        let items = QueryParameters(escaped: parts.query ?? "").filter { !matching.ignoredQuery.contains($0.name) }
        query = items.map { item in item.value.map { "\(item.name)=\($0)" } ?? item.name }.sorted()
        (parts.query, parts.fragment) = (nil, nil)
        if parts.path.isEmpty { parts.path = "/" }
        address = parts.string
        headers = (request.headers ?? []).headers.filter { matching.headers.contains($0.name) }.map { field in
            let isBoundary = field.name == .contentType && MediaType(field.value)?.isMultipart == true
            return "\(ASCII.lowercased(field.name.rawValue)): \(isBoundary ? "multipart" : field.value)"
        }.sorted()
        body = matching.comparesBody ? CassetteBody(request.postData, ignoring: paths, redaction) : .none
    }

    /// Returns the differences from an entry, and their weight. For the error message, the entry with the smallest
    /// weight is the nearest one.
    func differences(from entry: CassetteKey) -> (weight: Int, texts: [String]) {
        var found: [(weight: Int, text: String)] = []
        if method != entry.method { found.append((3, "the method is \(method), not \(entry.method)")) }
        if address != entry.address { found.append((6, "the URL is not \(entry.address)")) }
        for (kind, sent, recorded) in [("query item", query, entry.query), ("header", headers, entry.headers)] {
            for change in recorded.difference(from: sent) {
                switch change {
                case .remove(_, let text, _): found.append((1, "the \(kind) \(text) is not recorded"))
                case .insert(_, let text, _): found.append((1, "the \(kind) \(text) is missing"))
                }
            }
        }
        if let text = body.difference(from: entry.body) { found.append((2, text)) }
        return (found.reduce(0) { $0 + $1.weight }, found.map(\.text))
    }
}

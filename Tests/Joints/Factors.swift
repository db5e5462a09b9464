// SPDX-License-Identifier: MIT

/// What may differ between two cases. To try a new feature with all others, add a level, or a factor with its levels.
enum Factor: Int, CaseIterable {
    case body, delivery, plan, link, method, retry, redirects, cookies, cache, authentication, environment, entry, outer
    case transport, observers, concurrency, ending, order, progress, limit

    /// The factors that are tried in all triples. All factors are tried in all pairs.
    static let triples: [[Factor]] = [
        [.body, .delivery, .plan], [.body, .delivery, .link], [.body, .plan, .link], [.delivery, .plan, .link],
        [.method, .retry, .plan], [.environment, .entry, .plan], [.delivery, .ending, .link],
        [.plan, .link, .limit],
    ]

    /// The default comes first: a case is shrunk towards it.
    var levels: [String] { Self.table[rawValue] }

    private static let table = allCases.map { $0.words.split(separator: " ").map(String.init) }

    private var words: String {
        switch self {
        case .body: "none text json form multipart file stream once compressed"
        case .delivery:
            "buffered stream download folder resumed uploaded uploaded-away uploaded-draft lines events decoded failing reconnecting "
                + "values followed parts pages links"
        // What the server does with one request after the other. The last step is used for all later requests.
        case .plan:
            "ok 503 503-always busy 429 page 404 cut cut-chunks cut-twice reset stale 302 302-away 303 307 307-away loop "
                + "401 401-always early interim until-close gzip slow pieces 503-302-away 302-503"
        case .link:
            "none throttle balance hedge breaker deduplicate rate hedge-balance deduplicate-throttle throttle-balance "
                + "resilience"
        case .method: "GET POST PUT PATCH DELETE QUERY HEAD"
        case .retry: "none twice idempotent refusals client validator alternate"
        case .redirects: "safely never same keeping one custom"
        case .cookies: "none jar file"
        case .cache: "none fresh validate stale files"
        case .authentication:
            // The last ones sign the request with chunks for S3, and the response.
            "none basic bearer provider oauth oauth-home session digest challenge key signing asked path chunks "
                + "verified"
        case .environment: "client closure template derived absolute"
        case .entry: "template request builder chain handle session"
        case .outer: "none continue deadline trace print"
        case .transport: "direct libcurl tls relay relay-client" + (Nginx.shared == nil ? "" : " http2")
        case .observers: "recorder all none secret"
        case .concurrency: "one again both"
        case .ending: "complete cancel cancel-body drop reset reset-body reset-late deadline"
        case .order: "inner outer nested"
        case .progress: "none closure"
        case .limit: "none small"
        }
    }
}

/// One level of each factor: `plan=302 delivery=stream link=throttle`, where the factors with their defaults are left
/// out.
struct Case: Hashable, Sendable, CustomStringConvertible {
    private var levels: [Int]

    init() { levels = Factor.allCases.map { _ in 0 } }

    init(levels: [Int]) { self.levels = levels }

    /// Returns nil for a text that names an unknown factor or level.
    init?(_ text: String) {
        self.init()
        for word in text.split(separator: " ") {
            let parts = word.split(separator: "=").map(String.init)
            guard parts.count == 2, let factor = Factor.allCases.first(where: { "\($0)" == parts[0] }),
                factor.levels.contains(parts[1])
            else { return nil }
            self[factor] = parts[1]
        }
    }

    subscript(factor: Factor) -> String {
        get { factor.levels[levels[factor.rawValue]] }
        set { levels[factor.rawValue] = factor.levels.firstIndex(of: newValue) ?? 0 }
    }

    func `is`(_ factor: Factor, _ names: String...) -> Bool { names.contains(self[factor]) }

    /// The factors that do not have their defaults.
    var changed: [Factor] { Factor.allCases.filter { levels[$0.rawValue] != 0 } }

    var description: String {
        changed.isEmpty ? "body=none" : changed.map { "\($0)=\(self[$0])" }.joined(separator: " ")
    }
}

/// The conditions of a request for the reuse of stored responses, from its policy and its `Cache-Control`. Times are in
/// seconds.
struct CacheDemand: Equatable, Sendable {
    /// Whether stored responses are validated before they are reused.
    var validates = false
    /// Whether the request must not be sent.
    var onlyIfCached = false
    /// The largest age.
    var maxAge: Int64?
    /// The time for which the response must remain fresh.
    var minFresh: Int64 = 0
    /// The longest time since the response became stale.
    var maxStale: Int64?
    /// The longest time since the response became stale if the server cannot be reached.
    var staleIfError: Int64?

    /// Whether the request sets no condition that a stale response could break.
    var isPlain: Bool { !validates && maxAge == nil && minFresh == 0 }

    init() {}

    init(_ request: HTTPRequest) {
        read(request)
        switch request.caching.kind {
        case .standard, .bypass: break
        case .revalidate: validates = true
        case .onlyIfCached: onlyIfCached = true
        case .stale(let limit, let onErrorOnly):
            let seconds = Int64(min(limit, .seconds(1 << 31)).components.seconds)
            if onErrorOnly { staleIfError = seconds } else { maxStale = seconds }
        }
    }

    private mutating func read(_ request: HTTPRequest) {
        let control = CacheControl(request.headers)
        if control.isEmpty {
            validates = ASCII.members(of: request.headers.values(for: "Pragma")).map(ASCII.keyword).contains("no-cache")
            return
        }
        validates = control.contains("no-cache")
        onlyIfCached = control.contains("only-if-cached")
        maxAge = control.seconds("max-age")
        minFresh = control.seconds("min-fresh") ?? 0
        maxStale = control.isBare("max-stale") ? 1 << 31 : control.seconds("max-stale")
        staleIfError = control.seconds("stale-if-error")
    }
}

// SPDX-License-Identifier: MIT

/// Faults that are known and not yet mended: a case that breaks one of these rules is printed as known, and is no failure.
/// Remove a line together with the fault.
enum KnownFaults {
    struct Known: Sendable {
        let name: String
        let rules: Set<String>
        let applies: @Sendable (Case) -> Bool
    }

    static let all = [
        Known(name: "1: Balance and an authentication that fetches", rules: ["outcome", "requests", "afterwards"]) {
            $0.fetchesTokens && $0.isBalanced
        },
        Known(name: "1: the token request of a provider is not observed", rules: ["count"]) {
            $0[.authentication] == "provider"
        },
        Known(name: "2: Throttle, redirect, streamed response", rules: ["hang"]) {
            $0.is(.link, "throttle", "deduplicate-throttle", "throttle-balance", "resilience") && $0.isRedirected
                && $0[.delivery] != "buffered"
        },
        Known(name: "3: the environment of a template, a builder, another origin", rules: ["origin"]) {
            $0.is(.environment, "template", "derived") && $0.is(.entry, "builder", "request", "handle") && $0.leadsAway
        },
        Known(
            name: "4: observers and an exchange that outlives its load",
            rules: ["events", "archive", "statistics", "count"]
        ) {
            $0.is(.link, "deduplicate", "deduplicate-throttle") || $0[.cache] == "stale"
                || $0.is(.ending, "reset", "reset-body")
        },
        Known(name: "5: events and a cache", rules: ["value", "hang"]) {
            $0.is(.delivery, "events", "reconnecting") && $0[.cache] != "none"
        },
        Known(name: "6: the client of a relay follows redirects", rules: ["origin", "value", "ends", "afterwards"]) {
            $0[.transport] == "relay-client"
        },
        Known(name: "7: digest and what sends again below it", rules: ["nonce", "outcome", "requests", "afterwards"]) {
            $0[.authentication] == "digest" && ($0.isHedged || $0.is(.plan, "stale", "reset"))
        },
        Known(name: "8: Balance and nextURL in a body", rules: ["outcome", "requests"]) {
            $0[.delivery] == "pages" && $0.isBalanced
        },
        Known(name: "9: the events of one load from two threads", rules: ["events", "connections"]) {
            $0.isHedged || $0.is(.link, "deduplicate", "deduplicate-throttle")
        },
        Known(name: "10: responseLimit and retry", rules: ["outcome", "requests"]) {
            $0[.plan] == "page" && $0[.limit] == "small"
        },
        Known(name: "connection.closed without connection.opened, in few runs", rules: ["connections"]) {
            !$0.is(.ending, "complete", "drop")
        },
        Known(name: "the second page of a one-shot body is refused after its head was sent", rules: ["count"]) {
            $0.isPaged && $0[.body] == "once"
        },
        Known(name: "JSON has other bytes at each encoding", rules: ["body"]) { $0[.body] == "json" },
    ]
}

extension Case {
    var isHedged: Bool { self.is(.link, "hedge", "hedge-balance", "resilience") }
    fileprivate var isBalanced: Bool { self.is(.link, "balance", "hedge-balance", "throttle-balance", "resilience") }
    fileprivate var leadsAway: Bool { self.is(.plan, "302-away", "307-away", "503-302-away") }
    fileprivate var isRedirected: Bool { leadsAway || self.is(.plan, "302", "303", "307", "loop", "302-503") }

    /// The known fault that explains a broken rule; nil if none does.
    func known(_ rule: String) -> String? {
        KnownFaults.all.first { $0.rules.contains(rule) && $0.applies(self) }?.name
    }
}

/// Turns the events of one load into rows.
struct TimelineRows {
    private(set) var rows: [HTTPTimeline.Row] = []
    /// The starts of phases that have not ended, by name.
    private var open: [String: Duration] = [:]
    private var sent: Duration?
    private var head: Duration?

    mutating func add(_ event: HTTPEvent) {
        switch event.name {
        case "attempt.start": note("attempt \(event.attempt)", "")
        case "exchange.start": (sent, head) = (event.time, nil)
        case "request.sent":
            if let begin = sent, event.time - begin > .milliseconds(1) { bar("  send", begin, event) { _ in nil } }
            sent = event.time
        case "response.head": addHead(event)
        case "body.end":
            if let head, event.time > head { bar("  body", head, event) { $0[.bytes].map { "\($0) bytes" } } }
        case "exchange.failed": addFailure(event)
        case "retry.decided": addRetry(event)
        case "redirect.decided": addRedirect(event)
        default: addPhase(event)
        }
    }

    private static let phases = [
        "queue": "  queue", "lookup": "  lookup", "connect": "  connect", "tls": "  TLS", "decoding": "  decode",
        "credentials": "  credentials",
    ]

    private mutating func addPhase(_ event: HTTPEvent) {
        let parts = event.name.split(at: ".").map(String.init)
        guard parts.count == 2, let label = Self.phases[parts[0]] else { return }
        switch parts[1] {
        case "start", "entered", "needed": open[parts[0]] = event.time
        case "end", "left", "obtained", "failed":
            guard let begin = open.removeValue(forKey: parts[0]) else { return }
            bar(label, begin, event) { $0[.queue] ?? $0[.tlsVersion] ?? $0[.address] ?? $0[.errorType] }
            if parts[0] == "connect" || parts[0] == "tls" { sent = event.time }
        default: break
        }
    }

    private mutating func addHead(_ event: HTTPEvent) {
        if let sent { bar("  wait", sent, event) { $0[.status].map(String.init) } }
        head = event.time
        for timing in event[.serverTiming].map(ServerTiming.list)?.prefix(20) ?? [] { note("  server", "\(timing)") }
        if let date = event[.deprecation] { note("  deprecated", date) }
        if let date = event[.sunset] { note("  sunset", date) }
    }

    private mutating func addFailure(_ event: HTTPEvent) {
        bar("  failed", head ?? sent ?? event.time, event) { $0[.errorType] }
    }

    private mutating func addRetry(_ event: HTTPEvent) {
        guard event[.isRetried] == true, let wait = event[.wait] else { return note("no retry", event[.reason] ?? "") }
        rows.append(.init(label: "retry", start: event.time, end: event.time + wait, note: event[.reason] ?? ""))
    }

    private mutating func addRedirect(_ event: HTTPEvent) {
        let target = event[.isFollowed] == true ? "to \(event[.url] ?? "")" : event[.reason] ?? ""
        note("  redirect", "\(event[.status] ?? 0) \(target)")
    }

    private mutating func note(_ label: String, _ note: String) {
        rows.append(.init(label: label, note: Redaction.visible(note)))
    }

    private mutating func bar(_ label: String, _ begin: Duration, _ event: HTTPEvent, _ note: (HTTPEvent) -> String?) {
        rows.append(.init(label: label, start: begin, end: event.time, note: Redaction.visible(note(event) ?? "")))
    }
}

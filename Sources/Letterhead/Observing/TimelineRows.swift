/// Turns the events of one load into rows.
struct TimelineRows {
    private(set) var rows: [HTTPTimeline.Row] = []
    /// The starts of phases that have not ended, by label.
    private var open: [String: Duration] = [:]
    private var sent: Duration?
    private var head: Duration?

    mutating func add(_ event: HTTPEvent) {
        switch event.name {
        case .attemptStart: note("attempt \(event.attempt)", "")
        case .exchangeStart: (sent, head) = (event.time, nil)
        case .requestSent:
            if let begin = sent, event.time - begin > .milliseconds(1) { bar("  send", begin, event) { _ in nil } }
            sent = event.time
        case .responseHead: addHead(event)
        case .bodyEnd:
            if let head, event.time > head { bar("  body", head, event) { $0[.bytes].map { "\($0) bytes" } } }
        case .exchangeFailed: addFailure(event)
        case .retryDecided: addRetry(event)
        case .redirectDecided: addRedirect(event)
        default: addPhase(event)
        }
    }

    private static let starts: [HTTPEvent.Name: String] = [
        .queueEntered: "  queue", .lookupStart: "  lookup", .connectStart: "  connect", .tlsStart: "  TLS",
        .decodingStart: "  decode", .credentialsNeeded: "  credentials",
    ]

    private static let ends: [HTTPEvent.Name: String] = [
        .queueLeft: "  queue", .lookupEnd: "  lookup", .connectEnd: "  connect", .tlsEnd: "  TLS",
        .decodingEnd: "  decode", .decodingFailed: "  decode",
        .credentialsObtained: "  credentials", .credentialsFailed: "  credentials",
    ]

    private mutating func addPhase(_ event: HTTPEvent) {
        if let label = Self.starts[event.name] { open[label] = event.time }
        guard let label = Self.ends[event.name], let begin = open.removeValue(forKey: label) else { return }
        bar(label, begin, event) { $0[.queue] ?? $0[.tlsVersion] ?? $0[.address] ?? $0[.errorType] }
        if event.name == .connectEnd || event.name == .tlsEnd { sent = event.time }
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

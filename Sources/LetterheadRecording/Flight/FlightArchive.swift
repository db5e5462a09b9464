// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// A flight recorder's archive, and what its audit finds.
struct FlightArchive {
    private(set) var file = HAR()
    private var exchanges: [(entry: HAR.Entry, redaction: ArchiveRedaction)] = []
    /// The redaction of texts and events, which have no request of their own.
    private let all: ArchiveRedaction

    /// Creates the archive of the loads that concern an error, or of all loads.
    ///
    /// - Parameter partial: what has arrived of the response.
    init(
        _ log: FlightLog, around error: (any Error)? = nil, partial: FlightMessage? = nil,
        _ redaction: ArchiveRedaction
    ) {
        let (known, request) = (error as? HTTPError, (error as? HTTPError)?.request)
        let text = known?.description ?? error.map { HTTPError.summary(of: $0) }
        let failed = text.flatMap { Self.failed(log.loads, request?.id, $0) }
        let loads = log.loads.filter { number, load in
            guard let failed, let other = log.loads[failed] else { return true }
            return load.concerns(number, failed, other)
                || load.start < other.start && !other.operations.isDisjoint(with: load.operations)
        }.sorted { $0.value.start < $1.value.start }
        let redaction = request.map { redaction.adding($0.redaction) } ?? redaction
        all = Set(loads.flatMap { $0.value.exchanges.map(\.request.redaction) }).reduce(redaction) { $0.adding($1) }
        exchanges = loads.flatMap { [all] number, load in
            load.exchanges.map { exchange in
                let isLast = number == failed && exchange.number == load.exchanges.last?.number
                let own = redaction.adding(exchange.request.redaction).adding(values: all.names.values)
                return (exchange.start, exchange.entry(of: load, partial: isLast ? partial : nil, own), own)
            }
        }.sorted { $0.0 < $1.0 }.map { ($0.1, $0.2) }
        file.log.entries = exchanges.map(\.entry)
        if error == nil, log.removed > 0 { file.log.comment = "\(log.removed) older exchanges were removed" }
        if error != nil, failed == nil {
            file.log.comment = "no load ended with this error, so this is everything that was kept"
        }
        file.log._flight = HAR.Flight(
            failed: failed, error: text.map { [all] in all.shown($0) },
            system: ProcessInfo.processInfo.operatingSystemVersionString,
            loads: loads.map { [all] in $0.value.description($0.key, all) })
    }

    /// The values that look like secrets.
    var findings: [ArchiveAudit.Finding] {
        let audit = ArchiveAudit(all)
        return exchanges.enumerated().flatMap { ArchiveAudit($1.redaction).findings(in: $1.entry, number: $0 + 1) }
            + (file.log._flight?.loads ?? []).flatMap { load in
                (load.events ?? []).flatMap {
                    audit.findings(in: $0, "load \(load.load ?? 0), events", judgesRandom: false)
                }
            } + audit.findings(in: file.log._flight?.error ?? "", "error", judgesRandom: false)
    }

    /// Returns the latest load that ended with an error: at best, one that sent its request, otherwise one with the
    /// same text. If the request is known, only a load that sent nothing can be such a one.
    private static func failed(_ loads: [Int: FlightLog.Load], _ id: HTTPRequest.ID?, _ text: String) -> Int? {
        func rank(_ load: FlightLog.Load) -> (Int, Int) {
            let isSame = load.events.last(where: \.isEndOfLoad)?[.error]?.isSame(as: text) == true
            let canBe = id == nil || load.exchanges.isEmpty && load.removed == 0
            let isOwn = load.exchanges.contains { $0.id == id }
            return ((isOwn ? 2 : 0) + (isSame && (isOwn || canBe) ? 1 : 0), load.start)
        }
        return loads.filter { rank($0.value).0 > 0 }.max { rank($0.value) < rank($1.value) }?.key
    }
}

extension FlightLog.Load {
    /// What the loads of one operation have in common: the trace, or a header of a client that was derived for it.
    fileprivate var operations: Set<String> {
        let fields = exchanges.flatMap { [$0.request.headers["X-Correlation-ID"], $0.request.headers["X-Request-ID"]] }
        return Set((events.map { $0[.traceID] } + fields).compactMap(\.self))
    }

    /// Whether the load is a given one, runs at the same time, or has the same parent.
    fileprivate func concerns(_ own: Int, _ number: Int, _ other: FlightLog.Load) -> Bool {
        let family = [number, other.events.first?.parent]
        return family.contains(own) || events.first?.parent.map { family.contains($0) } == true
            || start <= other.end ?? .max && other.start <= end ?? .max
    }

    fileprivate func description(_ number: Int, _ redaction: ArchiveRedaction) -> HAR.Flight.Load {
        HAR.Flight.Load(
            load: number, template: events.first?.template, route: events.first?.route,
            summary: redaction.shown(HTTPEvent.line(of: events)), removedExchanges: removed > 0 ? removed : nil,
            settings: exchanges.first?.settingLines, events: events.map { redaction.shown("\($0)") })
    }
}

extension FlightLog.Exchange {
    fileprivate var settingLines: [String] {
        settings.compactMap { name, value in
            value.map { "\(name): \($0 as? Duration == .never ? "never" : "\($0)")" }
        }
    }

    fileprivate func entry(
        of load: FlightLog.Load, partial: FlightMessage?, _ redaction: ArchiveRedaction
    ) -> HAR.Entry {
        let phases = FlightPhases(start: begin.time, events: load.events.filter { $0[.exchange] == number })
        let error = phases.last(.error)
        let received = response ?? (error == nil ? nil : partial)
        var request = HAR.Request(begin[.method] ?? "", url: begin[.url] ?? "", self.request.headers, redaction)
        var response = HAR.Response(status: phases.last(.status, in: .responseHead, .exchangeFailed) ?? 0)
        if let received {
            response = HAR.Response(response.status, received.reason, received.headers, redaction)
            response.content = received.content(since: phases.head, redaction)
        }
        request.postData = self.request.hasBody ? self.request.content(redaction).asPost : nil
        let version = phases.last(.httpVersion) ?? "HTTP/1.1"
        (request.httpVersion, response.httpVersion) = (version, version)
        if let bytes = phases.last(.bytes, in: .bodyEnd) { response.content?.size = bytes }
        if phases.events.contains(where: { $0[.isComplete] == false }) { response.content?._truncated = true }
        response._error = error.map { redaction.shown($0) }
        var entry = HAR.Entry(request, response, at: date)
        (entry.timings, entry.time) = (phases.timings, phases.timings.total)
        (entry._load, entry._attempt, entry._template, entry._route) = (
            begin.load, begin.attempt, begin.template, begin.route
        )
        (entry.serverIPAddress, entry.comment) = (phases.host, response._error)
        entry._failure = phases.last(.errorType, in: .exchangeFailed)
        let end = received?.isStreamed == true ? phases.head : phases.end ?? phases.head
        entry._wait = end.map { ($0 - phases.start).inMilliseconds }
        return entry
    }
}

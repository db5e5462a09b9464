// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// A flight recorder's archive, and what its audit finds.
struct FlightArchive {
    private(set) var file = HAR()
    private var exchanges: [(entry: HAR.Entry, redaction: ArchiveRedaction)] = []
    private var texts: [(place: String, text: String)] = []
    /// The redaction of texts and events, which have no request of their own.
    private let all: ArchiveRedaction

    /// Creates the archive of all loads.
    init(_ log: FlightLog, _ redaction: ArchiveRedaction) {
        self.init(log.loads, error: nil, failed: nil, partial: nil, redaction)
        if log.removed > 0 { file.log.comment = "\(log.removed) older exchanges were removed" }
    }

    /// Creates the archive of the loads that concern an error.
    ///
    /// - Parameter partial: what has arrived of the response.
    init(_ log: FlightLog, around error: any Error, _ partial: FlightMessage?, _ redaction: ArchiveRedaction) {
        let (text, request) =
            (error as? HTTPError).map { ($0.description, $0.request) } ?? (HTTPError.summary(of: error), nil)
        let failed = Self.failed(log.loads, request?.id, text)
        let (operation, start) = failed.flatMap { log.loads[$0] }.map { ($0.operations, $0.start) } ?? ([], 0)
        let chosen = log.loads.filter {
            failed == nil || $0.value.concerns($0.key, failed, in: log.loads)
                || $0.value.start < start && !operation.isDisjoint(with: $0.value.operations)
        }
        let known = request.map { redaction.adding($0.redaction) } ?? redaction
        self.init(chosen, error: text, failed: failed, partial: partial, known)
        if failed == nil { file.log.comment = "no load ended with this error, so this is everything that was kept" }
    }

    private init(
        _ loads: [Int: FlightLog.Load], error: String?, failed: Int?, partial: FlightMessage?,
        _ redaction: ArchiveRedaction
    ) {
        let loads = loads.sorted { $0.value.start < $1.value.start }
        all = Set(loads.flatMap { $0.value.exchanges.map(\.request.redaction) })
            .reduce(redaction) { $0.adding($1) }
        exchanges = loads.flatMap { [all] number, load in
            load.exchanges.map { exchange in
                let isLast = number == failed && exchange.number == load.exchanges.last?.number
                let own = redaction.adding(exchange.request.redaction).adding(values: all.names.values)
                return (exchange.start, exchange.entry(of: load, partial: isLast ? partial : nil, own), own)
            }
        }.sorted { $0.0 < $1.0 }.map { ($0.1, $0.2) }
        file.log.entries = exchanges.map(\.entry)
        let flight = HAR.Flight(
            failed: failed, error: error.map { all.shown($0) },
            system: ProcessInfo.processInfo.operatingSystemVersionString,
            loads: loads.map { [all] in $0.value.description($0.key, all) })
        file.log.flight = flight
        texts =
            loads.enumerated().flatMap { index, load in
                (flight.loads?[index].events ?? []).map { ("load \(load.key), events", $0) }
            } + [("error", flight.error ?? "")]
    }

    /// The values that look like secrets.
    var findings: [ArchiveAudit.Finding] {
        let audit = ArchiveAudit(all)
        return exchanges.enumerated().flatMap { ArchiveAudit($1.redaction).findings(in: $1.entry, number: $0 + 1) }
            + texts.flatMap { audit.findings(in: $0.text, $0.place, judgesRandom: false) }
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
    fileprivate func concerns(_ own: Int, _ number: Int?, in loads: [Int: FlightLog.Load]) -> Bool {
        guard let number, let other = loads[number] else { return false }
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
        let phases = FlightPhases(from: begin.time, load.events.filter { $0[.exchange] == number })
        let received = response ?? (phases.error == nil ? nil : partial)
        var request = HAR.Request(begin[.method] ?? "", url: begin[.url] ?? "", self.request.headers, redaction)
        var response =
            received?.response(phases.status ?? 0, since: phases.head, redaction)
            ?? HAR.Response(status: phases.status ?? 0)
        request.postData = self.request.post(redaction)
        (request.httpVersion, response.httpVersion) = (phases.httpVersion, phases.httpVersion)
        if let bytes = phases.bytes { response.content?.size = bytes }
        if phases.isCut { response.content?.isTruncated = true }
        response.error = phases.error.map { redaction.shown($0) }
        var entry = HAR.Entry(request, response, at: date)
        (entry.timings, entry.time) = (phases.timings, phases.timings.total)
        (entry.load, entry.attempt, entry.template, entry.route) = (
            begin.load, begin.attempt, begin.template, begin.route
        )
        (entry.serverIPAddress, entry.comment, entry.failure) = (phases.host, response.error, phases.failure)
        let end = received?.isStreamed == true ? phases.head : phases.end ?? phases.head
        entry.wait = end.map { ($0 - phases.start).inMilliseconds }
        return entry
    }
}

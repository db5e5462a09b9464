// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

extension HAR {
    /// Creates an archive of the loads that can explain an error, or of all loads.
    ///
    /// - Parameters:
    ///   - partial: the part of the response that has arrived, from the error.
    ///   - redaction: the redaction with the secret names and values of all requests.
    init(
        _ log: FlightLog, around error: (any Error)? = nil, partial: FlightMessage? = nil, _ redaction: ArchiveRedaction
    ) {
        let known = error as? HTTPError
        let text = known?.description ?? error.map { HTTPError.summary(of: $0) }
        let failed = text.flatMap { Self.failed(log.loads, known?.request.id, $0) }
        let loads = log.loads.filter { number, load in
            guard let failed, let other = log.loads[failed] else { return true }
            return load.concerns(number, failed, other)
                || load.start < other.start && !other.operations.isDisjoint(with: load.operations)
        }.sorted { $0.value.start < $1.value.start }
        let entries = loads.flatMap { number, load in
            load.exchanges.map { exchange in
                let isLast = number == failed && exchange.number == load.exchanges.last?.number
                return (exchange.start, exchange.entry(of: load, isLast ? partial : nil, redaction))
            }
        }
        self.log.entries = entries.sorted { $0.0 < $1.0 }.map { $0.1 }
        if error == nil, log.removed > 0 { self.log.comment = "\(log.removed) older exchanges were removed" }
        let other = "no load ended with this error, so this is everything that was kept"
        if error != nil, failed == nil { self.log.comment = other }
        let system = ProcessInfo.processInfo.operatingSystemVersionString
        let list = loads.map { $0.value.description($0.key, redaction) }
        self.log._flight = HAR.Flight(failed: failed, error: text.map(redaction.text), system: system, loads: list)
    }

    /// Returns the latest load that ended with an error, or nil if there is none.
    ///
    /// If a load has sent the request with the given identifier, it is the one, and the error text decides only among
    /// several such loads. If no load has sent it, only the text decides. But if the identifier is known, a load with
    /// other exchanges can't be the right one.
    private static func failed(_ loads: [Int: FlightLog.Load], _ id: HTTPRequest.ID?, _ text: String) -> Int? {
        let latest = loads.sorted { $0.value.start > $1.value.start }
        let same = latest.filter { $0.value.events.last(where: \.isEndOfLoad)?[.error]?.isSame(as: text) == true }
        func isOwn(_ load: FlightLog.Load) -> Bool { load.exchanges.contains { $0.id == id } }
        let found = same.first { isOwn($0.value) } ?? latest.first { isOwn($0.value) }
        return found?.key ?? same.first { id == nil || $0.value.exchanges.isEmpty && $0.value.removed == 0 }?.key
    }
}

extension FlightLog.Load {
    /// The identifiers that all loads of one operation share: the trace, or a header that the client of the operation
    /// sends.
    fileprivate var operations: Set<String> {
        let fields = exchanges.flatMap { [$0.request.headers["X-Correlation-ID"], $0.request.headers["X-Request-ID"]] }
        return Set((events.map { $0[.traceID] } + fields).compactMap(\.self))
    }

    /// Returns whether this load belongs in an archive about the given load: it is the load itself, has run at the same
    /// time, or belongs to the same parent.
    fileprivate func concerns(_ own: Int, _ number: Int, _ other: FlightLog.Load) -> Bool {
        let family = [number, other.events.first?.parent]
        return family.contains(own) || events.first?.parent.map { family.contains($0) } == true
            || start <= other.end ?? .max && other.start <= end ?? .max
    }

    fileprivate func description(_ number: Int, _ redaction: ArchiveRedaction) -> HAR.Flight.Load {
        HAR.Flight.Load(
            load: number, template: events.first?.template, route: events.first?.route,
            summary: redaction.text(HTTPEvent.line(of: events)), removedExchanges: removed > 0 ? removed : nil,
            settings: exchanges.first?.settingLines, events: events.map { redaction.text("\($0)") })
    }
}

extension FlightLog.Exchange {
    fileprivate var settingLines: [String] {
        settings.compactMap { name, value in value.map { "\(name): \($0 as? Duration == .never ? "never" : "\($0)")" } }
    }

    fileprivate func entry(of load: FlightLog.Load, _ partial: FlightMessage?, _ names: ArchiveRedaction) -> HAR.Entry {
        let phases = FlightPhases(start: begin.time, events: load.events.filter { $0[.exchange] == number })
        let error = phases.last(.error)
        let received = response ?? (error == nil ? nil : partial)
        var request = HAR.Request(begin[.method] ?? "", url: begin[.url] ?? "", self.request.headers, names)
        var response = HAR.Response(status: phases.last(.status, in: .responseHead, .exchangeFailed) ?? 0)
        if let received {
            response = HAR.Response(response.status, received.reason, received.headers, names)
            response.content = received.content(since: phases.head, names)
        }
        request.postData = self.request.hasBody ? self.request.content(names).asPost : nil
        let version = phases.last(.httpVersion) ?? "HTTP/1.1"
        (request.httpVersion, response.httpVersion) = (version, version)
        if let bytes = phases.last(.bytes, in: .bodyEnd) { response.content?.size = bytes }
        if phases.events.contains(where: { $0[.isComplete] == false }) { response.content?._truncated = true }
        response._error = error.map { names.text($0) }
        var entry = HAR.Entry(request, response, at: date)
        (entry.timings, entry.time) = (phases.timings, phases.timings.total)
        (entry._load, entry._attempt) = (begin.load, begin.attempt)
        (entry._template, entry._route) = (begin.template, begin.route)
        (entry.serverIPAddress, entry.comment) = (phases.host, response._error)
        entry._failure = phases.last(.errorType, in: .exchangeFailed)
        let end = received?.isStreamed == true ? phases.head : phases.end ?? phases.head
        entry._wait = end.map { ($0 - phases.start).inMilliseconds }
        return entry
    }
}

/// The facts and times in the events of an exchange.
struct FlightPhases {
    let start: Duration
    let events: [HTTPEvent]

    /// Returns the last value of a fact.
    ///
    /// - Parameter names: the events to search. Without names, all events are searched.
    func last<Value>(_ fact: HTTPEvent.Fact<Value>, in names: HTTPEvent.Name...) -> Value? {
        events.last { (names.isEmpty || names.contains($0.name)) && $0[fact] != nil }?[fact]
    }

    private func time(_ name: HTTPEvent.Name) -> Duration? { events.last { $0.name == name }?.time }

    var head: Duration? { time(.responseHead) }
    var end: Duration? { time(.exchangeEnd) ?? time(.exchangeFailed) }

    /// The address without the port and without the brackets of IPv6.
    var host: String? {
        last(.address).map { address in
            let end = address.utf8.lastIndex(of: UInt8(ascii: ":")) ?? address.endIndex
            return address.cut(at: "]").map { String($0.head.dropFirst()) } ?? String(address[..<end])
        }
    }

    /// The durations of the phases. `blocked`, `dns`, `connect` and `ssl` are -1 if they didn't occur. The others are
    /// never negative.
    var timings: HAR.Timings {
        let end = end ?? time(.bodyEnd) ?? head ?? start
        let connected = time(.tlsEnd) ?? time(.connectEnd) ?? time(.lookupEnd) ?? time(.queueLeft) ?? start
        let sent = max(time(.requestSent) ?? connected, connected)
        let head = max(head ?? end, sent)
        return HAR.Timings(
            blocked: span(start, time(.queueLeft)), dns: span(time(.lookupStart), time(.lookupEnd)),
            connect: span(time(.connectStart), time(.tlsEnd) ?? time(.connectEnd)),
            send: (sent - connected).inMilliseconds, wait: (head - sent).inMilliseconds,
            receive: max(end - head, .zero).inMilliseconds, ssl: span(time(.tlsStart), time(.tlsEnd)))
    }

    private func span(_ begin: Duration?, _ end: Duration?) -> Double {
        guard let begin, let end else { return -1 }
        return max(end - begin, .zero).inMilliseconds
    }
}

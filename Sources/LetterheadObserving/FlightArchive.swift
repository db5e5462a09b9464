// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// The file of a flight recorder, and what its audit finds.
struct FlightArchive {
    let file: HARFile
    let findings: [ArchiveAudit.Finding]

    init(
        _ loads: [Int: FlightLog.Load], around error: any Error, _ partial: FlightMessage?, _ redaction: Redaction
    ) {
        let text = (error as? HTTPError)?.description ?? HTTPError.summary(of: error)
        let failed = Self.failed(loads, (error as? HTTPError)?.request.id, text)
        let chosen = loads.filter { failed == nil || $0.value.concerns($0.key, failed, in: loads) }
            .sorted { $0.value.start < $1.value.start }
        let redaction = ArchiveRedaction(names: redaction)
        let requests = chosen.flatMap { $0.value.exchanges.map(\.request.redaction) }
        // Texts and events have no request of their own.
        let all = Set(requests + [(error as? HTTPError)?.request.redaction].compactMap(\.self))
            .reduce(redaction) { $0.adding($1) }
        let exchanges = chosen.flatMap { number, load in
            load.exchanges.map { exchange in
                let isLast = number == failed && exchange.number == load.exchanges.last?.number
                let own = redaction.adding(exchange.request.redaction)
                let entry = exchange.entry(of: load, partial: isLast ? partial : nil, own)
                return (start: exchange.start, entry: entry, audit: ArchiveAudit(own))
            }
        }.sorted { $0.start < $1.start }
        let flight = HARFile.Flight(
            failed: failed, error: all.shown(text),
            system: ProcessInfo.processInfo.operatingSystemVersionString,
            loads: chosen.map { $0.value.description($0.key, all) })
        let comment = failed == nil ? "no load ended with this error, so this is everything that was kept" : nil
        file = HARFile(entries: exchanges.map(\.entry), comment: comment, flight: flight)
        let lines = flight.loads.flatMap { load in load.events.map { ("load \(load.load), events", $0) } }
        findings =
            exchanges.enumerated().flatMap { $1.entry.findings("entry \($0 + 1)", $1.audit) }
            + (lines + [("error", flight.error)]).flatMap {
                ArchiveAudit(all).findings(in: $1, $0, judgesRandom: false)
            }
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

extension ArchiveRedaction {
    /// Returns a text of an event in the form of archives.
    fileprivate func shown(_ text: String) -> String {
        self.text(text.replacingBytes(of: Redaction.placeholder, with: Self.placeholder))
    }
}

extension FlightLog.Load {
    /// Whether the load is a given one, runs at the same time, or has the same parent.
    fileprivate func concerns(_ own: Int, _ number: Int?, in loads: [Int: FlightLog.Load]) -> Bool {
        guard let number, let other = loads[number] else { return false }
        let family = [number, other.events.first?.parent]
        return family.contains(own) || events.first?.parent.map { family.contains($0) } == true
            || start <= other.end ?? .max && other.start <= end ?? .max
    }

    fileprivate func description(_ number: Int, _ redaction: ArchiveRedaction) -> HARFile.Flight.Load {
        HARFile.Flight.Load(
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
    ) -> HARFile.Entry {
        let events = load.events.filter { $0[.exchange] == number }
        var noted = HAREntry(begin, date: date, bodyLimit: 0)
        for event in events { noted.note(event) }
        var entry = HARFile.Entry(noted)
        let url = redaction.shown(begin[.url] ?? "")
        let query = URLParts(url).query.map { QueryParameters(escaped: $0) }
        entry.request = HARFile.Request(
            method: begin[.method] ?? "", url: url, httpVersion: entry.request.httpVersion,
            headers: request.pairs(redaction),
            queryString: query?.map { HARFile.Pair(name: $0.name, value: $0.value ?? "") } ?? [],
            postData: request.post(redaction))
        let response = response ?? (noted.error == nil ? nil : partial)
        if let response { entry.response.fill(from: response, redaction, since: noted.ends[.responseHead]) }
        if events.contains(where: { $0[.isComplete] == false }) { entry.response.content._truncated = true }
        let end = response?.isStreamed == true ? nil : noted.ends[.exchangeEnd] ?? noted.ends[.exchangeFailed]
        entry._wait = (end ?? noted.ends[.responseHead]).map { ($0 - noted.start).inMilliseconds }
        entry._failure = events.last { $0.name == .exchangeFailed }?[.errorType]
        entry.comment = noted.error.map { redaction.shown($0) }
        entry.response._error = entry.comment
        return entry
    }
}

extension FlightMessage {
    fileprivate func pairs(_ redaction: ArchiveRedaction) -> [HARFile.Pair] {
        headers.map { HARFile.Pair(name: Redaction.visible($0.name.rawValue), value: redaction.value(of: $0)) }
    }

    fileprivate var isDropped: Bool? { gap != nil && pieces.isEmpty ? true : nil }

    fileprivate func body(_ redaction: ArchiveRedaction) -> (text: String?, encoding: String?) {
        guard !pieces.isEmpty else { return (nil, nil) }
        let type = headers[.contentType].flatMap { MediaType($0) }
        let data = redaction.body(pieces.reduce(into: Data()) { $0 += $1.data }, mediaType: type, isSecret: false)
        return String(data: data, encoding: .utf8).map { ($0, nil) } ?? (data.base64EncodedString(), "base64")
    }

    fileprivate func post(_ redaction: ArchiveRedaction) -> HARFile.PostData? {
        let (text, encoding) = body(redaction)
        guard text != nil || gap != nil else { return nil }
        return HARFile.PostData(
            mimeType: headers[.contentType] ?? "", text: text ?? "", comment: gap, _encoding: encoding,
            _dropped: isDropped)
    }
}

extension HARFile.Response {
    fileprivate mutating func fill(from message: FlightMessage, _ redaction: ArchiveRedaction, since head: Duration?) {
        (statusText, headers) = (Redaction.visible(message.reason), message.pairs(redaction))
        redirectURL = message.headers[.location].map { redaction.text($0) } ?? ""
        let (text, encoding) = message.body(redaction)
        var last = head ?? .zero
        let pieces = message.pieces.map { piece in
            defer { last = piece.time }
            return HARFile.Piece(bytes: piece.data.count, delay: max(piece.time - last, .zero).inMilliseconds)
        }
        content = HARFile.Content(
            size: content.size, mimeType: message.headers[.contentType] ?? "x-unknown", text: text, encoding: encoding,
            comment: message.gap ?? (message.isStreamed ? "streamed" : nil),
            _pieces: message.isStreamed && message.isDropped != true ? pieces : nil,
            _truncated: message.gap != nil && !pieces.isEmpty ? true : nil, _dropped: message.isDropped)
    }
}

extension HARFile.Entry {
    fileprivate func findings(_ place: String, _ audit: ArchiveAudit) -> [ArchiveAudit.Finding] {
        func data(_ text: String?, _ encoding: String?) -> Data? {
            text.flatMap { encoding == nil ? Data($0.utf8) : Data(base64Encoded: $0) }
        }
        let (post, content) = (request.postData, response.content)
        return audit.findings(
            in: place, url: request.url,
            [
                (
                    "request", request.headers.map { ($0.name, $0.value) }, data(post?.text, post?._encoding),
                    post?.mimeType
                ),
                (
                    "response", response.headers.map { ($0.name, $0.value) }, data(content.text, content.encoding),
                    content.mimeType
                ),
            ]) + audit.findings(in: comment ?? "", "\(place), error", judgesRandom: false)
    }
}

// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

struct HAREntry: Sendable {
    enum Content: Sendable {
        case request(HARMessage)
        case response(HARMessage)
        case piece(Data)
    }

    let date: Date
    let load: Int
    let attempt: Int
    let template: String?
    let route: String?
    let start: Duration
    private(set) var request: HARMessage?
    private(set) var response: HARMessage?
    private(set) var status: Int?
    private(set) var httpVersion: String?
    private(set) var address: String?
    private(set) var error: String?
    private(set) var wireBytes: Int?
    private(set) var bytes: Int?
    /// Whether the response's body has not arrived to its end.
    private(set) var isCut = false
    /// The time of each name's last event. The phases are computed from these.
    private(set) var ends: [HTTPEvent.Name: Duration] = [:]
    private let bodyLimit: Int

    init(_ event: HTTPEvent, date: Date, bodyLimit: Int) {
        (self.date, load, attempt, route) = (date, event.load, event.attempt, event.route)
        (start, self.bodyLimit, template) = (event.time, bodyLimit, event.template)
    }

    mutating func note(_ event: HTTPEvent) {
        ends[event.name] = event.time
        httpVersion = event[.httpVersion] ?? httpVersion
        address = event[.address] ?? address
        switch event.name {
        case .responseHead: status = event[.status] ?? status
        case .exchangeFailed:
            status = event[.status] ?? status
            isCut = status != nil
        case .bodyEnd:
            (wireBytes, bytes) = (event[.wireBytes], event[.bytes])
            isCut = event[.isComplete] == false
        default: break
        }
        error = event[.error] ?? error
    }

    mutating func note(_ content: Content) {
        switch content {
        case .request(let message): request = message
        case .response(let message): response = message
        case .piece(let data): response?.append(data, upTo: bodyLimit)
        }
    }

    /// The phases in milliseconds. `blocked`, `dns`, `connect` and `ssl` are -1 if they didn't occur. The other phases
    /// are never negative.
    var timings: HARFile.Timings {
        let end = ends[.exchangeEnd] ?? ends[.exchangeFailed] ?? ends[.bodyEnd] ?? ends[.responseHead] ?? start
        let connected = ends[.tlsEnd] ?? ends[.connectEnd] ?? ends[.lookupEnd] ?? ends[.queueLeft] ?? start
        let sent = max(ends[.requestSent] ?? connected, connected)
        let head = max(ends[.responseHead] ?? end, sent)
        return HARFile.Timings(
            blocked: span(start, ends[.queueLeft]), dns: span(ends[.lookupStart], ends[.lookupEnd]),
            connect: span(ends[.connectStart], ends[.tlsEnd] ?? ends[.connectEnd]),
            send: (sent - connected).inMilliseconds, wait: (head - sent).inMilliseconds,
            receive: max(end - head, .zero).inMilliseconds, ssl: span(ends[.tlsStart], ends[.tlsEnd]))
    }

    private func span(_ begin: Duration?, _ end: Duration?) -> Double {
        guard let begin, let end else { return -1 }
        return max(end - begin, .zero).inMilliseconds
    }
}

extension Duration {
    var inMilliseconds: Double { (self / .microseconds(1)).rounded() / 1_000 }
}

/// A request or a response in an archive, redacted.
struct HARMessage: Sendable {
    let method: String
    let url: String
    let query: [HARFile.Pair]
    let headers: [HARFile.Pair]
    let statusText: String
    let mediaType: String?
    let location: String
    /// The beginning of the body, or nil without a body.
    private(set) var body: Data?
    private(set) var isCut = false
    private let source: HTTPHeaders
    private let redaction: Redaction
    private let isSecret: Bool

    init(_ request: HTTPRequest, limit: Int) {
        self.init(request, request.framedHeaders(), statusText: "")
        guard !request.body.isEmpty else { return }
        body = Data()
        guard limit > 0, request.body.isReplayable, let data = try? request.body.chunks().data else {
            isCut = true
            return
        }
        append(data, upTo: limit)
    }

    init(_ response: HTTPResponse, limit: Int) {
        self.init(response.request, response.headers, statusText: response.status.reasonPhrase)
        body = Data()
        if let data = response.body.buffered { append(data, upTo: limit) }
    }

    private init(_ request: HTTPRequest, _ headers: HTTPHeaders, statusText: String) {
        redaction = request.redaction
        method = request.method.printable
        // A URL must not contain the placeholder's angle brackets.
        url = redaction.url(of: request).replacingBytes(of: Redaction.placeholder, with: "%3Credacted%3E")
        query = request.query.map { [redaction] item in
            let isSecret = item.value != nil && (item.isSecret || redaction.isSecret(parameter: item.name))
            return HARFile.Pair(name: item.name, value: isSecret ? Redaction.placeholder : item.value ?? "")
        }
        self.headers = headers.map { [redaction] in
            HARFile.Pair(name: Redaction.visible($0.name.rawValue), value: redaction.value(of: $0))
        }
        (source, self.statusText, isSecret) = (headers, statusText, request.isSecret)
        mediaType = headers[.contentType]
        location =
            headers[.location].map { [redaction] in
                redaction.value(of: HTTPHeaders.Field(.location, $0))
            } ?? ""
    }

    mutating func append(_ data: Data, upTo limit: Int) {
        let room = limit - (body?.count ?? 0)
        if data.count > room { isCut = true }
        guard room > 0 else { return }
        if body == nil { body = Data() }
        body?.append(data.prefix(room))
    }

    /// The body's text, in Base64 if it is binary, or nil for an empty body. It is `<redacted>` if the body is secret,
    /// or if it is multipart or text that can't be redacted.
    var text: (text: String, encoding: String?)? {
        guard let body, !body.isEmpty else { return nil }
        if isSecret { return (Redaction.placeholder, nil) }
        if let text = redaction.redacted(body, headers: source, isCut: isCut) { return (text, nil) }
        return Redaction.hidesText(source) ? (Redaction.placeholder, nil) : (body.base64EncodedString(), "base64")
    }
}

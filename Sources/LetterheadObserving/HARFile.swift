// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// The archive in its JSON form. The names come from HAR 1.2.
struct HARFile: Encodable {
    struct Log: Encodable {
        var version = "1.2"
        var creator = Creator(name: "Letterhead", version: "1")
        let entries: [Entry]
        let comment: String?
        var _flight: Flight?
    }

    struct Creator: Encodable {
        let name: String
        let version: String
    }

    struct Pair: Encodable, Sendable {
        let name: String
        let value: String
    }

    struct Entry: Encodable {
        let startedDateTime: String
        let time: Double
        var request: Request
        var response: Response
        var cache = Empty()
        let timings: Timings
        let serverIPAddress: String?
        var comment: String?
        let _load: Int
        let _attempt: Int
        let _template: String?
        let _route: String?
        /// The time until the response or its streamed body's beginning, in milliseconds, and the error's code.
        var _wait: Double?
        var _failure: String?
    }

    struct Empty: Encodable {}

    struct Request: Encodable {
        let method: String
        let url: String
        let httpVersion: String
        var cookies: [Pair] = []
        let headers: [Pair]
        let queryString: [Pair]
        let postData: PostData?
        var headersSize = -1
        var bodySize = -1
    }

    struct PostData: Encodable {
        let mimeType: String
        let text: String
        let comment: String?
        var _encoding: String?
        var _dropped: Bool?
    }

    struct Response: Encodable {
        let status: Int
        var statusText: String
        let httpVersion: String
        var cookies: [Pair] = []
        var headers: [Pair]
        var content: Content
        var redirectURL: String
        var headersSize = -1
        let bodySize: Int
        var _error: String?
    }

    struct Content: Encodable {
        let size: Int
        let mimeType: String
        let text: String?
        let encoding: String?
        let comment: String?
        var _pieces: [Piece]?
        var _truncated: Bool?
        var _dropped: Bool?
    }

    struct Timings: Encodable {
        let blocked: Double
        let dns: Double
        let connect: Double
        let send: Double
        let wait: Double
        let receive: Double
        let ssl: Double

        /// The sum over all phases. `connect` includes `ssl`.
        var total: Double { [blocked, dns, connect, send, wait, receive].map { max($0, 0) }.reduce(0, +) }
    }

    /// A streamed body's piece: its length, and the milliseconds since the piece before it.
    struct Piece: Encodable {
        let bytes: Int
        let delay: Double
    }

    /// What a flight recorder knows beside the exchanges.
    struct Flight: Encodable {
        struct Load: Encodable {
            let load: Int
            let template: String?
            let route: String?
            let summary: String
            let removedExchanges: Int?
            let settings: [String]?
            let events: [String]
        }

        /// The failed load's number, or nil if no load ended with the error.
        let failed: Int?
        let error: String
        let system: String
        let loads: [Load]
    }

    let log: Log

    init(entries: [Entry], comment: String?, flight: Flight? = nil) {
        log = Log(entries: entries, comment: comment, _flight: flight)
    }
}

extension HARFile.Entry {
    init(_ entry: HAREntry) {
        let version = entry.httpVersion ?? "HTTP/1.1"
        startedDateTime = entry.date.formatted(
            .iso8601.year().month().day().time(includingFractionalSeconds: true).timeZone(separator: .colon))
        timings = entry.timings
        time = timings.total
        request = HARFile.Request(entry.request, version)
        response = HARFile.Response(entry, version)
        serverIPAddress = entry.address.map(Self.host)
        comment = entry.error
        (_load, _attempt) = (entry.load, entry.attempt)
        (_template, _route) = (entry.template, entry.route)
    }

    /// The address without the port and without IPv6 brackets.
    private static func host(_ address: String) -> String {
        if let (host, _) = address.cut(at: "]") { return String(host.dropFirst()) }
        return address.utf8.lastIndex(of: UInt8(ascii: ":")).map { String(address[..<$0]) } ?? address
    }
}

extension HARFile.Request {
    init(_ message: HARMessage?, _ version: String) {
        method = message?.method ?? ""
        url = message?.url ?? ""
        httpVersion = version
        headers = message?.headers ?? []
        queryString = message?.query ?? []
        postData = message?.body.map { _ in
            HARFile.PostData(
                mimeType: message?.mediaType ?? "", text: message?.text?.text ?? "",
                comment: message?.isCut == true ? "the body is not complete" : nil)
        }
    }
}

extension HARFile.Response {
    init(_ entry: HAREntry, _ version: String) {
        let message = entry.response
        status = entry.status ?? 0
        statusText = message?.statusText ?? ""
        httpVersion = version
        headers = message?.headers ?? []
        redirectURL = message?.location ?? ""
        bodySize = -1
        _error = entry.error
        content = HARFile.Content(
            size: entry.bytes ?? message?.body?.count ?? 0, mimeType: message?.mediaType ?? "x-unknown",
            text: message?.text?.text, encoding: message?.text?.encoding,
            comment: entry.isCut || message?.isCut == true ? "the body is not complete" : nil)
    }
}

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
        let request: Request
        let response: Response
        var cache = Empty()
        let timings: Timings
        let serverIPAddress: String?
        let comment: String?
        let _load: Int
        let _attempt: Int
        let _route: String?
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
    }

    struct Response: Encodable {
        let status: Int
        let statusText: String
        let httpVersion: String
        var cookies: [Pair] = []
        let headers: [Pair]
        let content: Content
        let redirectURL: String
        var headersSize = -1
        let bodySize: Int
        let _error: String?
    }

    struct Content: Encodable {
        let size: Int
        let mimeType: String
        let text: String?
        let encoding: String?
        let comment: String?
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

    let log: Log

    init(entries: [Entry], comment: String?) { log = Log(entries: entries, comment: comment) }
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
        (_load, _attempt, _route) = (entry.load, entry.attempt, entry.route)
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
            comment: message?.isCut == true ? "the body is not complete" : nil)
    }
}

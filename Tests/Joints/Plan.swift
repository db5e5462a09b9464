// SPDX-License-Identifier: MIT
import Foundation
import Letterhead

/// What the server does with one request.
enum Step: Hashable {
    case ok, status(Int), busy(Int), page, cut, cutChunks, reset, stale, redirect(Int, away: Bool), refuse, early,
        interim
    case untilClose, gzip, slow, pieces

    /// Whether a server that does this has processed the request, so that a second one would have an effect.
    var processes: Bool {
        switch self {
        case .ok, .status, .page, .cut, .cutChunks, .reset, .stale, .interim, .untilClose, .gzip, .slow, .pieces: true
        case .busy, .redirect, .refuse, .early: false
        }
    }
}

extension Step {
    /// Whether a chunk of an upload arrives, at least in part.
    var storesUpload: Bool {
        [.ok, .cut, .cutChunks, .interim, .untilClose, .gzip, .slow, .pieces].contains(self)
    }

    fileprivate var isPassedByProxies: Bool { ![.cut, .cutChunks, .reset, .stale, .interim].contains(self) }
}

extension Case {
    /// The steps for the requests of one call, the last one repeated. What nginx does not pass on is left out behind
    /// it.
    var steps: [Step] {
        let passed = self[.transport] == "http2" ? planned.filter { $0.isPassedByProxies } : planned
        return passed.isEmpty ? [.ok] : passed
    }

    private var planned: [Step] {
        switch self[.plan] {
        case "503": [.status(503), .ok]
        case "503-always": [.status(503)]
        case "busy": [.busy(503), .ok]
        case "429": [.busy(429), .ok]
        case "page": [.page, .ok]
        case "404": [.status(404)]
        case "cut": [.cut, .ok]
        case "cut-chunks": [.cutChunks, .ok]
        case "cut-twice": [.cut, .cut, .ok]
        case "reset": [.reset, .ok]
        case "stale": [.stale, .ok]
        case "302", "303", "307": [.redirect(Int(self[.plan]) ?? 0, away: false), .ok]
        case "302-away", "307-away": [.redirect(Int(self[.plan].prefix(3)) ?? 0, away: true), .ok]
        case "loop": [.redirect(302, away: false)]
        case "401": [.refuse, .ok]
        case "401-always": [.refuse]
        case "early": [.early]
        case "interim": [.interim, .ok]
        case "until-close": [.untilClose]
        case "gzip": [.gzip]
        case "slow": [.slow, .ok]
        case "pieces": [.pieces]
        case "503-302-away": [.status(503), .redirect(302, away: true), .ok]
        case "302-503": [.redirect(302, away: false), .status(503), .ok]
        default: [.ok]
        }
    }
}

struct Item: Codable, Hashable, Sendable {
    var number: Int
    var text: String
}

struct Page: Codable, Sendable {
    var items: [Item]
    var next: String?
}

/// What the server sends in a successful response.
enum Content {
    static let items = (1...40).map { Item(number: $0, text: String(repeating: "\($0) ", count: 20)) }
    static let tag = "\"v1\""
    static let events = Array(1...9)
    /// How many events a connection brings to a reader that reconnects.
    static let batch = 3

    /// - Parameters:
    ///   - lastEvent: events with a higher number are sent.
    ///   - next: the URL of the second page, or nil on that page.
    static func bytes(for testCase: Case, after lastEvent: Int = 0, next: String? = nil) -> [UInt8] {
        switch testCase[.delivery] {
        case "lines": Array(items.map { "\($0.number) \($0.text)\n" }.joined().utf8)
        case "events": Array(events.map(event).joined().utf8)
        case "decoded": Array((items.map(decodedEvent).joined(separator: ": wait\n\n") + "data: [DONE]\n\n").utf8)
        case "failing":
            Array((items[..<3].map(decodedEvent).joined() + #"data: {"error":{"message":"busy"}}"# + "\n\n").utf8)
        // A page of a proxy, which is no value and has no line ending.
        case "followed": Array("<title>busy".utf8)
        case "parts": Array((items.map(part).joined() + "--b--\r\n").utf8)
        case "reconnecting": Array(events.filter { $0 > lastEvent }.prefix(batch).map(event).joined().utf8)
        case "pages": json(Page(items: next == nil ? Array(items[20...]) : Array(items[..<20]), next: next))
        case "links": json(next == nil ? Array(items[20...]) : Array(items[..<20]))
        default: json(items)
        }
    }

    static func type(for testCase: Case) -> String {
        switch testCase[.delivery] {
        case "lines": "text/plain; charset=utf-8"
        case "events", "decoded", "failing", "reconnecting": "text/event-stream"
        case "followed": "text/html"
        case "parts": "multipart/mixed; boundary=b"
        default: "application/json"
        }
    }

    /// The key of the signatures of responses. It fills a block of the hash.
    static let key = Array(1...64 as ClosedRange<UInt8>)

    /// HMAC with SHA-256 (RFC 2104).
    static func code(of bytes: [UInt8]) -> [UInt8] {
        SHA256Hash.hash(key.map { $0 ^ 0x5C } + SHA256Hash.hash(key.map { $0 ^ 0x36 } + bytes))
    }

    /// Returns the content of a body in chunks for S3 with signatures, or nil if it is malformed.
    static func unframed(_ body: Data) -> Data? {
        var (rest, content) = (body, Data())
        while let end = rest.firstRange(of: [13, 10]) {
            let head = String(decoding: rest[..<end.lowerBound], as: UTF8.self).components(
                separatedBy: ";chunk-signature=")
            guard head.count == 2, let count = Int(head[0], radix: 16), rest[end.upperBound...].count >= count + 2
            else { return nil }
            content += rest[end.upperBound...].prefix(count)
            rest = rest[end.upperBound...].dropFirst(count + 2)
            if count == 0 { return rest.isEmpty ? content : nil }
        }
        return nil
    }

    private static func json(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return Array((try? encoder.encode(value)) ?? Data())
    }

    private static func decodedEvent(_ item: Item) -> String {
        "event: ping\ndata: {}\n\nevent: item\ndata: \(String(decoding: json(item), as: UTF8.self))\n\n"
    }

    private static func part(_ item: Item) -> String {
        "--b\r\nContent-Type: application/json\r\n\r\n\(String(decoding: json(item), as: UTF8.self))\r\n"
    }

    private static func event(_ number: Int) -> String {
        "id: \(number)\ndata: \(number)\ndata: \(String(repeating: "x", count: 100))\n\n"
    }

    /// The bytes in the gzip format, without compression (RFC 1951, 3.2.4).
    static func gzip(_ bytes: [UInt8]) -> [UInt8] {
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? (crc >> 1) ^ 0xEDB8_8320 : crc >> 1 }
        }
        let length = UInt16(bytes.count)
        return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255, 1] + little(length) + little(~length) + bytes + little(~crc)
            + little(UInt32(bytes.count))
    }

    private static func little<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}

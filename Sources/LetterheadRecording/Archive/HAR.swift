// SPDX-License-Identifier: MIT
public import LetterheadFoundation
import Letterhead

/// An HTTP Archive, version 1.2. Flights, cassettes and archives from other programs all have this form.
///
/// Properties are named like the members of the format. Members that browsers leave out are optional. The format allows
/// custom members, which start with an underscore.
struct HAR: Codable, Sendable {
    struct Log: Codable, Sendable {
        var version = "1.2"
        var creator: [String: JSONValue] = ["name": "Letterhead", "version": "1"]
        var entries: [Entry] = []
        var comment: String?
        var _flight: Flight?
    }

    struct Entry: Codable, Sendable {
        var startedDateTime: String?
        /// How long the exchange took, in milliseconds.
        var time: Double?
        var request: Request
        var response: Response
        var cache: NoCache? = NoCache()
        var timings: Timings? = Timings()
        var serverIPAddress: String?
        var comment: String?
        var _load: Int?
        var _attempt: Int?
        /// The type name of the template without its decorators.
        var _template: String?
        var _route: String?
        /// For a flight recorder: the time in milliseconds until the response was complete, or until a streamed body
        /// began.
        var _wait: Double?
        /// For a flight recorder: the code of the error that ended the exchange, such as `connectionLost`.
        var _failure: String?
    }

    /// A member that the format requires. Its content is never read.
    struct NoCache: Codable, Sendable {}

    /// A member that the format requires. The headers already contain the cookies, so its content isn't read, and an
    /// empty array is written.
    struct NoCookies: Codable, Sendable {
        init() {}
        init(from decoder: any Decoder) {}
        func encode(to encoder: any Encoder) { _ = encoder.unkeyedContainer() }
    }

    /// The phases in milliseconds. `connect` includes `ssl`. A phase that didn't occur is nil or -1.
    struct Timings: Codable, Sendable {
        var blocked: Double?
        var dns: Double?
        var connect: Double?
        var send: Double? = 0
        var wait: Double? = 0
        var receive: Double? = 0
        var ssl: Double?

        var total: Double { [blocked, dns, connect, send, wait, receive].map { max($0 ?? 0, 0) }.reduce(0, +) }
    }

    struct Field: Codable, Sendable, Hashable {
        var name: String
        var value: String?
    }

    struct Request: Codable, Sendable {
        var method: String
        var url: String
        var httpVersion: String? = "HTTP/1.1"
        var cookies: NoCookies? = NoCookies()
        var headers: [Field]? = []
        var queryString: [Field]? = []
        var postData: Content?
        var headersSize: Int? = -1
        var bodySize: Int? = -1
    }

    struct Response: Codable, Sendable {
        var status = 0
        var statusText: String? = ""
        var httpVersion: String? = "HTTP/1.1"
        var cookies: NoCookies? = NoCookies()
        var headers: [Field]? = []
        var content: Content? = Content(size: 0, mimeType: "")
        var redirectURL: String? = ""
        var headersSize: Int? = -1
        var bodySize: Int? = -1
        var _error: String?
    }

    /// The body of a request or a response.
    struct Content: Codable, Sendable {
        /// The number of bytes. The format has this member for responses only.
        var size: Int?
        var mimeType: String?
        var text: String?
        /// `base64` for a body that is not text. The format has this member for responses only, but some programs write
        /// it for requests, too.
        var encoding: String?
        /// The same as `encoding`, for requests.
        var _encoding: String?
        var comment: String?
        /// Form items. Some programs write them instead of the text.
        var params: [Field]?
        /// The pieces of a streamed body, or nil for a body that arrived as a whole.
        var _pieces: [Piece]?
        /// Whether the recording ends before the end of the body.
        var _truncated: Bool?
        /// Whether a flight recorder has left out the body. Such a body isn't compared.
        var _dropped: Bool?
    }

    struct Piece: Codable, Sendable, Hashable {
        /// The length in bytes.
        var bytes: Int
        /// The time since the previous piece in milliseconds.
        var delay: Double

        static func list(_ pieces: [(data: Data, time: Duration)], since start: Duration) -> [Piece] {
            zip(pieces, [start] + pieces.map(\.time)).map { piece, last in
                Piece(bytes: piece.data.count, delay: max(piece.time - last, .zero).inMilliseconds)
            }
        }
    }

    /// The information that a flight recorder has in addition to the exchanges.
    struct Flight: Codable, Sendable {
        struct Load: Codable, Sendable {
            var load: Int?
            var template: String?
            var route: String?
            var summary: String?
            var removedExchanges: Int?
            var settings: [String]?
            var events: [String]?
        }

        /// The number of the load that failed, or nil if no load ended with the error.
        var failed: Int?
        var error: String?
        var system: String?
        var loads: [Load]?
    }

    var log = Log()
}

extension HAR {
    /// The largest file to read, in bytes.
    private static let largestFile = 64 << 20

    /// Reads a file.
    ///
    /// - Parameter name: names the file in errors.
    init(_ file: URL, name: String) throws {
        // A mapped file takes no memory before its size is checked.
        let data = try Data(contentsOf: file, options: .alwaysMapped)
        guard data.count <= Self.largestFile else {
            throw RecordingError(
                "\(name) has \(data.count) bytes, more than the limit of \(Self.largestFile): export fewer entries")
        }
        do { self = try JSONDecoder().value(of: HAR.self, from: data) } catch {
            throw RecordingError("\(name) is not an HTTP archive: \(HTTPError.summary(of: error))")
        }
    }

    /// Returns the archive as indented JSON. The order of members is always the same.
    func json() throws -> Data { try JSONEncoder.sorting(.prettyPrinted).encode(self) + Data("\n".utf8) }
}

extension HAR.Request {
    /// - Parameter url: the URL without secrets, from `Redaction`.
    init(_ method: String, url: String, _ headers: HTTPHeaders, _ redaction: ArchiveRedaction) {
        self.init(method: method, url: redaction.text(url), headers: redaction.fields(headers))
        // An empty query string would be parsed as one item without a name, so a missing query is handled separately.
        let query = URLParts(self.url).query.map { QueryParameters(escaped: $0) }
        queryString = query?.map { HAR.Field(name: $0.name, value: $0.value ?? "") } ?? []
    }
}

extension HAR.Response {
    /// A response without a body.
    init(_ status: Int, _ reason: String, _ headers: HTTPHeaders, _ redaction: ArchiveRedaction) {
        self.init(status: status, statusText: Redaction.visible(reason), headers: redaction.fields(headers))
        redirectURL = headers[.location].map { redaction.text($0) } ?? ""
        content?.mimeType = headers[.contentType] ?? ""
    }
}

extension HAR.Content {
    init(_ body: Data, _ headers: HTTPHeaders, _ redaction: ArchiveRedaction, isSecret: Bool = false) {
        let clean = redaction.body(body, mediaType: headers.type, isSecret: isSecret)
        self.init(size: clean.count, mimeType: headers[.contentType] ?? "", text: String(data: clean, encoding: .utf8))
        if text == nil { (text, encoding) = (clean.base64EncodedString(), "base64") }
    }

    /// The body in the form that the format has for requests, without the members for responses.
    var asPost: HAR.Content {
        var post = self
        (post.size, post.text, post._encoding, post.encoding) = (nil, text ?? "", encoding, nil)
        return post
    }

    /// The body bytes, or nil if the archive doesn't contain them.
    ///
    /// Programs write bodies in different ways, and this property reads all of these:
    ///
    /// - Base64 that is broken into lines.
    /// - Plain text that is declared as Base64.
    /// - A character for each byte, if the body isn't text or has a charset other than UTF-8.
    var data: Data? {
        let type = mimeType.flatMap { MediaType($0) }
        if text?.isEmpty != false, let params, type?.essence == MediaType.form.essence {
            let items = params.map { "\($0.name)=\($0.value ?? "")".replacingBytes(of: "&", with: "%26") }
            return Data(items.joined(separator: "&").utf8)
        }
        guard let text else { return nil }
        let plain = Data(text.utf8)
        if (_encoding ?? encoding).map(ASCII.keyword) == "base64" {
            let decoded = Data(base64Encoded: plain) ?? Data(base64Encoded: plain.filter { $0 > 0x20 })
            return size == plain.count && size != decoded?.count ? plain : decoded ?? plain
        }
        let charset = type?["charset"].map(ASCII.keyword) ?? "utf-8"
        let isText = type.map { !$0.isMultipart && Redaction.hidesText([.contentType: $0.description]) } ?? true
        guard size != plain.count, charset != "utf-8" || !isText else { return plain }
        let scalars = text.unicodeScalars
        return scalars.allSatisfy { $0.value < 256 } && size ?? scalars.count == scalars.count
            ? Data(scalars.map { UInt8(truncatingIfNeeded: $0.value) }) : plain
    }
}

extension HAR.Entry {
    /// The reason why the response can't be replayed: its body is missing in the archive. Nil if it can be replayed.
    var gap: String? {
        guard let content = response.content else { return nil }
        if content._dropped == true { return content.comment ?? "it was not recorded" }
        let isRead = !(300..<400).contains(response.status) && response.status != 204 && request.method != "HEAD"
        guard isRead, _failure == nil, content.text == nil, let size = content.size, size > 0 else { return nil }
        return "the archive lacks the text of its body (\(size) bytes)"
    }

    init(_ request: HAR.Request, _ response: HAR.Response, at date: Date) {
        self.init(request: request, response: response)
        startedDateTime = date.formatted(
            .iso8601.year().month().day().time(includingFractionalSeconds: true).timeZone(separator: .colon))
    }
}

/// An error in a recording, a snapshot or a contract.
///
/// It's thrown if an archive or a snapshot can't be used, if a request differs from its snapshot, if responses break a
/// contract, or if a value looks like a secret.
public struct RecordingError: LocalizedError, Sendable, CustomStringConvertible {
    /// The name of the file, and what is wrong with it. If a snapshot differs, the text contains all lines: `-` marks a
    /// line in the file, and `+` marks a line in the request.
    public let description: String

    /// The same as ``description``.
    public var errorDescription: String? { description }

    package init(_ description: String) { self.description = description }
}

extension Data {
    /// Returns the range where other bytes occur first. It is fast in a debug build, too.
    ///
    /// The unsafe calls are correct, because the pointers are valid until the closures return and each comparison stays
    /// inside the bytes.
    @safe func position(of other: Data) -> Range<Int>? {
        unsafe withUnsafeBytes { bytes in
            unsafe other.withUnsafeBytes { pattern in
                var place = 0
                while bytes.count - place >= pattern.count, let base = bytes.baseAddress,
                    let first = pattern.baseAddress, let byte = unsafe pattern.first,
                    let found = unsafe memchr(base + place, Int32(byte), bytes.count - pattern.count + 1 - place)
                {
                    place = unsafe base.distance(to: UnsafeRawPointer(found))
                    if unsafe memcmp(found, first, pattern.count) == 0 {
                        return startIndex + place..<startIndex + place + pattern.count
                    }
                    place += 1
                }
                return nil
            }
        }
    }

    /// Splits the bytes at each occurrence of a delimiter.
    func pieces(between delimiter: Data) -> [Data] {
        var (pieces, rest) = ([Data](), self[...])
        while let found = rest.position(of: delimiter) {
            pieces.append(rest[..<found.lowerBound])
            rest = rest[found.upperBound...]
        }
        return pieces + [rest]
    }
}

extension JSONEncoder {
    /// Returns an encoder that sorts members, so that people can read and compare the files.
    static func sorting(_ more: OutputFormatting = []) -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = more.union([.sortedKeys, .withoutEscapingSlashes])
        return encoder
    }
}

extension HTTPHeaders {
    /// The media type, or nil if the field is missing or malformed.
    var type: MediaType? { self[.contentType].flatMap { MediaType($0) } }
}

extension Duration {
    /// The duration in milliseconds, rounded to microseconds.
    var inMilliseconds: Double { (self / .microseconds(1)).rounded() / 1_000 }
}

extension ArchiveRedaction {
    /// Returns header fields without secret values.
    func fields(_ headers: HTTPHeaders) -> [HAR.Field] {
        headers.map { HAR.Field(name: Redaction.visible($0.name.rawValue), value: value(of: $0)) }
    }
}

extension [HAR.Field] {
    /// The fields as headers, without the pseudo-header fields of HTTP/2.
    var headers: HTTPHeaders {
        let fields = filter { !$0.name.begins(with: ":") }
        return HTTPHeaders(fields.map { HTTPHeaders.Field(HTTPHeaders.Name($0.name), $0.value ?? "") })
    }
}

// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead
import LetterheadObserving

/// An HTTP Archive, version 1.2.
///
/// Members that browsers leave out are optional. Members that start with an underscore are custom, as the format allows.
struct HAR: Codable, Sendable {
    struct Log: Codable, Sendable {
        var version = "1.2"
        var creator = Creator()
        var entries: [Entry] = []
    }

    struct Creator: Codable, Sendable {
        var name = "Letterhead"
        var version = "1"
    }

    struct Entry: Codable, Sendable {
        var startedDateTime: String?
        /// The exchange's duration in milliseconds.
        var time: Double?
        var request: Request
        var response: Response
        var cache: NoCache? = NoCache()
        var timings: Timings? = Timings()
        /// The name of the template's type without its decorators.
        var template: String?
        var route: String?
        /// A flight recorder's time until the response or its streamed body's beginning, in milliseconds.
        var wait: Double?
        /// The code of the error that a flight recorder has seen, such as `connectionLost`.
        var failure: String?

        private enum CodingKeys: String, CodingKey {
            case startedDateTime, time, request, response, cache, timings
            case template = "_template"
            case route = "_route"
            case wait = "_wait"
            case failure = "_failure"
        }
    }

    /// A member that the format requires. Reading ignores it, and writing creates an empty object.
    struct NoCache: Codable, Sendable {
        private enum CodingKeys: CodingKey {}

        init() {}
        init(from decoder: any Decoder) {}
        func encode(to encoder: any Encoder) { _ = encoder.container(keyedBy: CodingKeys.self) }
    }

    /// A member that the format requires. The headers contain the cookies, so reading ignores it, and writing creates
    /// an empty array.
    struct NoCookies: Codable, Sendable {
        init() {}
        init(from decoder: any Decoder) {}
        func encode(to encoder: any Encoder) { _ = encoder.unkeyedContainer() }
    }

    struct Timings: Codable, Sendable {
        var send: Double? = 0
        var wait: Double? = 0
        var receive: Double? = 0
    }

    struct Field: Codable, Sendable, Hashable {
        var name: String
        var value: String
    }

    struct Request: Codable, Sendable {
        var method: String
        var url: String
        var httpVersion: String? = "HTTP/1.1"
        var cookies: NoCookies? = NoCookies()
        var headers: [Field]? = []
        var queryString: [Field]? = []
        var postData: PostData?
        var headersSize: Int? = -1
        var bodySize: Int? = -1
    }

    struct PostData: Codable, Sendable {
        var mimeType: String?
        var text: String?
        /// `base64` for a body that is not text. The format has this member for responses only.
        var encoding: String?
        /// Whether a flight recorder has not kept the body. Then it isn't compared.
        var isDropped: Bool?

        /// The body's bytes, or nil if the archive doesn't contain them.
        var data: Data? { HAR.data(text, encoding) }

        private enum CodingKeys: String, CodingKey {
            case mimeType, text
            case encoding = "_encoding"
            case isDropped = "_dropped"
        }
    }

    struct Response: Codable, Sendable {
        var status: Int
        var statusText: String? = ""
        var httpVersion: String? = "HTTP/1.1"
        var cookies: NoCookies? = NoCookies()
        var headers: [Field]? = []
        var content: Content?
        var redirectURL: String? = ""
        var headersSize: Int? = -1
        var bodySize: Int? = -1
    }

    struct Content: Codable, Sendable {
        var size: Int?
        var mimeType: String?
        var text: String?
        var encoding: String?
        /// A streamed body's pieces, or nil for a body that arrived as a whole.
        var pieces: [Piece]?
        /// Whether the recording ends before the body does.
        var isTruncated: Bool?
        /// Whether a flight recorder has not kept the body.
        var isDropped: Bool?
        /// In an archive of `HARRecorder`, tells that the body isn't complete.
        var comment: String?

        /// The body's bytes, or nil if the archive doesn't contain them.
        var data: Data? { HAR.data(text, encoding) }

        private enum CodingKeys: String, CodingKey {
            case size, mimeType, text, encoding, comment
            case pieces = "_pieces"
            case isTruncated = "_truncated"
            case isDropped = "_dropped"
        }
    }

    struct Piece: Codable, Sendable, Hashable {
        /// The length in bytes.
        var bytes: Int
        /// The time since the previous piece in milliseconds.
        var delay: Double
    }

    var log = Log()

    /// Writes the archive, replacing the file as a whole. Creates missing folders.
    func write(to file: URL) throws {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try (JSONEncoder.indenting.encode(self) + Data("\n".utf8)).write(to: file, options: .atomic)
    }
}

extension JSONEncoder {
    /// An encoder for files that people read and compare.
    static var indenting: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}

extension HAR {
    private static func data(_ text: String?, _ encoding: String?) -> Data? {
        guard let text else { return nil }
        return encoding.map(ASCII.keyword) == "base64" ? Data(base64Encoded: text) : Data(text.utf8)
    }

    /// Returns a body's text and encoding.
    static func text(of data: Data) -> (text: String, encoding: String?) {
        if let text = String(data: data, encoding: .utf8) { return (text, nil) }
        return (data.base64EncodedString(), "base64")
    }
}

extension ArchiveRedaction {
    /// Returns the fields without secret values.
    func fields(_ headers: HTTPHeaders) -> [HAR.Field] {
        headers.map { HAR.Field(name: $0.name.rawValue, value: value(of: $0)) }
    }
}

extension [HAR.Field] {
    /// The fields as headers, without HTTP/2's pseudo-header fields.
    var headers: HTTPHeaders {
        HTTPHeaders(
            filter { !$0.name.begins(with: ":") }.map { HTTPHeaders.Field(HTTPHeaders.Name($0.name), $0.value) })
    }
}

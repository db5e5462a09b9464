// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation
import Synchronization

/// A request or a response in a flight recorder's memory: its fields without secret values, and its body as far as it's
/// kept.
struct FlightMessage: Sendable {
    typealias Limits = (bytes: Int, keepsBinary: Bool)

    let headers: HTTPHeaders
    let redaction: Redaction
    private(set) var reason = ""
    private(set) var isStreamed = false
    private(set) var pieces: [(data: Data, time: Duration)] = []
    /// Why bytes of the body are missing.
    private(set) var gap: String?
    private let headBytes: Int
    private var bodyBytes = 0

    /// The message's memory.
    var bytes: Int { headBytes + bodyBytes }

    init(_ request: HTTPRequest, _ names: SecretNames, _ limits: Limits) {
        self.init(request.body.isEmpty ? request.headers : request.framedHeaders(), of: request, names)
        guard !request.body.isEmpty else { return }
        keep(request.body.isReplayable ? try? request.body.chunks().data : nil, of: request, limits)
    }

    init(_ response: HTTPResponse, _ names: SecretNames, _ limits: Limits) {
        self.init(response.headers, of: response.request, names)
        (reason, isStreamed) = (response.status.reasonPhrase, response.body.buffered == nil)
        if response.body.buffered?.isEmpty == true { return }
        keep(response.body.buffered, of: response.request, limits)
    }

    private init(_ headers: HTTPHeaders, of request: HTTPRequest, _ names: SecretNames) {
        redaction = request.redaction
        (self.headers, headBytes) = names.withoutSecrets(headers, redaction)
    }

    mutating func append(_ data: Data, at time: Duration, _ limits: Limits) {
        guard gap == nil else { return }
        // A piece takes memory beside its bytes.
        guard bodyBytes + data.count + 64 <= limits.bytes else {
            return gap =
                pieces.isEmpty ? "the body was too large to keep" : "the rest of the body was too large to keep"
        }
        pieces.append((data, time))
        bodyBytes += data.count + 64
    }

    /// - Parameter data: encodes the body, and runs only if the body's type is kept.
    private mutating func keep(_ data: @autoclosure () -> Data?, of request: HTTPRequest, _ limits: Limits) {
        // Nothing in compressed bytes can be redacted.
        if headers.contains(.contentEncoding) { return gap = "the body was not kept, because it is compressed" }
        guard limits.keepsBinary || isText else { return gap = "the body was not kept, because of its media type" }
        guard var kept = data() else {
            if request.isSecret { return gap = "the body was not kept, because it is secret" }
            return gap = isStreamed ? nil : "the body was not kept, because it was not in memory"
        }
        if request.isSecret {
            let type = headers[.contentType].flatMap { MediaType($0) }
            kept = ArchiveRedaction(names: .standard).adding(redaction).body(kept, mediaType: type, isSecret: true)
        }
        if !kept.isEmpty { append(kept, at: .zero, limits) }
    }

    /// Whether the type is a text that ``ArchiveRedaction`` knows, or one that an audit can judge.
    private var isText: Bool {
        guard let type = headers[.contentType] else { return false }
        // Parsing a media type takes longer than keeping a message may.
        let essence = type.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 }.map { $0 | 0x20 }
        return essence.suffix(4).elementsEqual("json".utf8) || Self.texts.contains(essence)
    }

    private static let texts = ["text/plain", "text/event-stream", "application/x-www-form-urlencoded"]
        .map { Array($0.utf8) }
}

/// Remembers which names of headers are secret, because judging a name takes longer than keeping a message may.
final class SecretNames: Sendable {
    private static let archive = ArchiveRedaction(names: .standard)
    /// A table without collision lists: a name replaces another one in its place.
    private let known = Mutex<[(name: HTTPHeaders.Name, isSecret: Bool)?]>(Array(repeating: nil, count: 1_024))

    /// Returns the fields without secret values, and about their memory.
    func withoutSecrets(_ headers: HTTPHeaders, _ own: Redaction) -> (headers: HTTPHeaders, bytes: Int) {
        let isStandard = own == .standard
        var (bytes, secrets) = (0, [Int]())
        known.withLock { known in
            for (index, field) in headers.enumerated() {
                bytes += 64 + field.name.rawValue.utf8.count + field.value.utf8.count
                if field.isSecret || Self.isSecret(field.name, &known)
                    || !isStandard && own.isSecret(header: field.name)
                {
                    secrets.append(index)
                }
            }
        }
        guard !secrets.isEmpty else { return (headers, bytes) }
        var fields = Array(headers)
        for index in secrets {
            let field = fields[index]
            let value = field.name == .setCookie ? Self.archive.value(of: field) : ArchiveRedaction.placeholder
            fields[index] = HTTPHeaders.Field(field.name, value)
        }
        return (HTTPHeaders(fields), bytes)
    }

    private static func isSecret(
        _ name: HTTPHeaders.Name, _ known: inout [(name: HTTPHeaders.Name, isSecret: Bool)?]
    ) -> Bool {
        let bytes = name.rawValue.utf8
        let place = bytes.reduce(0) { ($0 &* 31 &+ Int($1)) & 1_023 }
        if let entry = known[place], entry.name == name { return entry.isSecret }
        let isSecret = Redaction.standard.isSecret(header: name)
        if bytes.count < 100 { known[place] = (name, isSecret) }
        return isSecret
    }
}

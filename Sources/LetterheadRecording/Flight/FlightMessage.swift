// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// A request or a response that a flight recorder keeps. It contains no secret header values. Of its body, it contains
/// the part that the limits allow.
struct FlightMessage: Sendable {
    typealias Limits = (bytes: Int, keepsBinary: Bool)

    let headers: HTTPHeaders
    let redaction: Redaction
    private(set) var reason = ""
    private(set) var isStreamed = false
    private(set) var pieces: [(data: Data, time: Duration)] = []
    /// The reason why bytes of the body are missing, or nil if the body is complete.
    private(set) var gap: String?
    private let headBytes: Int
    private var bodyBytes = 0

    var hasBody: Bool { !pieces.isEmpty || gap != nil }
    /// How much memory the message uses, in bytes.
    var bytes: Int { headBytes + bodyBytes }

    init(_ request: HTTPRequest, _ limits: Limits) {
        self.init(request.body.isEmpty ? request.headers : request.framedHeaders(), of: request)
        guard !request.body.isEmpty else { return }
        keep(request.body.isReplayable ? try? request.body.chunks().data : nil, of: request, limits)
    }

    init(_ response: HTTPResponse, _ limits: Limits) {
        self.init(response.headers, of: response.request)
        (reason, isStreamed) = (response.status.reasonPhrase, response.body.buffered == nil)
        if response.body.buffered?.isEmpty == true { return }
        keep(response.body.buffered, of: response.request, limits)
    }

    private init(_ headers: HTTPHeaders, of request: HTTPRequest) {
        redaction = request.redaction
        let known = ArchiveRedaction.standard.adding(redaction)
        self.headers = HTTPHeaders(headers.map { known.isSecret($0) ? .init($0.name, known.value(of: $0)) : $0 })
        headBytes = headers.reduce(0) { $0 + 64 + $1.name.rawValue.utf8.count + $1.value.utf8.count }
    }

    mutating func append(_ data: Data, at time: Duration, _ limits: Limits) {
        guard gap == nil else { return }
        // Each piece uses some memory in addition to its bytes.
        guard bodyBytes + data.count + 64 <= limits.bytes else {
            return gap =
                pieces.isEmpty ? "the body was too large to keep" : "the rest of the body was too large to keep"
        }
        pieces.append((data, time))
        bodyBytes += data.count + 64
    }

    /// - Parameter data: encodes the body. It's called only if a body of this type is kept.
    private mutating func keep(_ data: @autoclosure () -> Data?, of request: HTTPRequest, _ limits: Limits) {
        // Secrets can't be removed from compressed bytes.
        if headers.contains(.contentEncoding) { return gap = "the body was not kept, because it is compressed" }
        guard limits.keepsBinary || isText else { return gap = "the body was not kept, because of its media type" }
        guard var kept = data() else {
            let reason = request.isSecret ? "is secret" : "was not in memory"
            return gap = isStreamed && !request.isSecret ? nil : "the body was not kept, because it \(reason)"
        }
        if request.isSecret {
            kept = ArchiveRedaction.standard.adding(redaction).body(kept, mediaType: headers.type, isSecret: true)
        }
        if !kept.isEmpty { append(kept, at: .zero, limits) }
    }

    /// Whether the body is text in a format that ``ArchiveRedaction`` knows, or text that the audit can judge.
    private var isText: Bool {
        guard let type = headers.type?.essence else { return false }
        return type.ends(with: "json") || ["text/plain", "text/event-stream", MediaType.form.essence].contains(type)
    }
}

extension FlightMessage {
    /// Returns the body for an archive.
    ///
    /// - Parameter head: when the head arrived. Default: nil.
    func content(since head: Duration? = nil, _ redaction: ArchiveRedaction) -> HAR.Content {
        var content = HAR.Content(size: 0, mimeType: headers[.contentType] ?? "")
        if !pieces.isEmpty { content = HAR.Content(pieces.reduce(into: Data()) { $0 += $1.data }, headers, redaction) }
        content.comment = gap ?? (isStreamed ? "streamed" : nil)
        if gap != nil { (content._truncated, content._dropped) = pieces.isEmpty ? (nil, true) : (true, nil) }
        guard isStreamed, content._dropped != true else { return content }
        content._pieces = HAR.Piece.list(pieces, since: head ?? .zero)
        return content
    }
}

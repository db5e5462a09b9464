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
        keep(response.body.buffered, of: response.request, limits)
    }

    private init(_ headers: HTTPHeaders, of request: HTTPRequest, _ names: SecretNames) {
        redaction = request.redaction
        self.headers = names.withoutSecrets(headers, redaction)
        headBytes = headers.reduce(0) { $0 + 64 + $1.name.rawValue.utf8.count + $1.value.utf8.count }
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

    private mutating func keep(_ data: Data?, of request: HTTPRequest, _ limits: Limits) {
        if data?.isEmpty == true { return }
        guard limits.keepsBinary || isText else { return gap = "the body was not kept, because it is not text" }
        if data == nil, request.isSecret { return gap = "the body was not kept, because it is secret" }
        guard var kept = data else {
            return gap = isStreamed ? nil : "the body was not kept, because it can be read only once"
        }
        if request.isSecret {
            let type = headers[.contentType].flatMap { MediaType($0) }
            kept = ArchiveRedaction(names: .standard).adding(redaction).body(kept, mediaType: type, isSecret: true)
        }
        append(kept, at: .zero, limits)
    }

    private var isText: Bool {
        guard let type = headers[.contentType], !headers.contains(.contentEncoding) else { return false }
        let essence = ASCII.keyword(ASCII.trimmed(type.cut(at: ";")?.head ?? type[...]))
        return essence.begins(with: "text/") || Self.textEndings.contains { essence.ends(with: $0) }
    }

    private static let textEndings = ["json", "xml", "javascript", "yaml", "graphql", "x-www-form-urlencoded"]
}

/// Remembers which names of headers are secret, because judging a name takes longer than keeping a message may.
final class SecretNames: Sendable {
    private let known = Mutex<[HTTPHeaders.Name: Bool]>([:])

    func withoutSecrets(_ headers: HTTPHeaders, _ own: Redaction) -> HTTPHeaders {
        let isStandard = own == .standard
        let secrets = known.withLock { known in
            headers.map { field in
                field.isSecret || Self.isSecret(field.name, &known) || !isStandard && own.isSecret(header: field.name)
            }
        }
        guard secrets.contains(true) else { return headers }
        let redaction = ArchiveRedaction(names: .standard).adding(own)
        return HTTPHeaders(
            zip(headers, secrets).map { $1 ? HTTPHeaders.Field($0.name, redaction.value(of: $0)) : $0 })
    }

    private static func isSecret(_ name: HTTPHeaders.Name, _ known: inout [HTTPHeaders.Name: Bool]) -> Bool {
        if let isSecret = known[name] { return isSecret }
        let isSecret = Redaction.standard.isSecret(header: name)
        // A server can send any number of names.
        if known.count < 500, name.rawValue.utf8.count < 100 { known[name] = isSecret }
        return isSecret
    }
}

// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead
import Synchronization

extension Cassette {
    /// Sends a request and records its response. Entries have the same order as requests, even if responses arrive in a
    /// different order.
    func record(_ request: HTTPRequest, over next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let index = state.withLock { state in
            state.values.formUnion(request.redaction.values)
            state.new.append(nil)
            return state.new.count - 1
        }
        let (start, date) = (timeline.now, Date())
        var response = try await next.load(request)
        let sent = response.request.isRedirected ? request : response.request
        let redaction = self.redaction.adding(response.request.redaction)
        let answer = HAR.Response(response.status.code, response.status.reasonPhrase, response.headers, redaction)
        var entry = HAR.Entry(await archived(sent), answer, at: date)
        entry.time = (timeline.now - start).inMilliseconds
        entry.timings?.wait = entry.time
        var root = request.template
        while let inner = root?.inner { root = inner }
        (entry._template, entry._route) = (root.map { String(describing: type(of: $0)) }, root?.path.route)
        let (headers, isSecret) = (response.headers, sent.isSecret || response.headers.contains(.contentEncoding))
        let store: @Sendable (Data, [HAR.Piece]?, Bool?) -> Void = { [entry] data, pieces, isTruncated in
            var entry = entry
            var content = HAR.Content(data, headers, redaction, isSecret: isSecret)
            (content._pieces, content._truncated) = (pieces, isTruncated)
            entry.response.content = content
            self.state.withLock { $0.new[index] = entry }
        }
        if let data = response.body.buffered {
            store(response.savedFile.flatMap { try? Data(contentsOf: $0) } ?? data, nil, nil)
        } else {
            response.body = recording(response.body, store)
        }
        return response
    }

    /// Returns a request without secrets.
    ///
    /// A compressed body is decompressed, so that its secrets are found and its content can be compared. If that fails,
    /// the whole body counts as a secret.
    func archived(_ request: HTTPRequest) async -> HAR.Request {
        let (redaction, headers) = (self.redaction.adding(request.redaction), request.framedHeaders())
        let url = request.redaction.url(of: request)
        var archived = HAR.Request("\(request.method)", url: url, headers, redaction)
        guard !request.body.isEmpty, let chunks = try? request.framedBody() else { return archived }
        var stored = chunks.data
        if stored == nil, request.body.isReplayable, chunks.length.map({ $0 <= Self.largestBody }) ?? false {
            stored = try? await chunks.reduce(into: Data()) { $0 += $1 }
        }
        guard let data = stored else {
            // The bytes aren't available, so the archive contains the type and length of the body.
            let text = "(\(type(of: request.body)), \(chunks.length.map { "\($0)" } ?? "unknown") bytes)"
            archived.postData = HAR.Content(mimeType: headers[.contentType] ?? "", text: text)
            return archived
        }
        let isCoded = headers.contains(.contentEncoding)
        let plain = isCoded ? headers.decompressed(data, upTo: Self.largestBody) : data
        let isSecret = request.isSecret || plain == nil
        archived.postData = HAR.Content(plain ?? data, headers, redaction, isSecret: isSecret).asPost
        archived.bodySize = data.count
        return archived
    }

    /// The largest body to read from a file or to decompress, in bytes.
    private static let largestBody = 16 << 20

    /// Returns a streamed body that calls a closure when it ends. The closure receives the bytes, the pieces, and
    /// whether the body is truncated.
    private func recording(
        _ body: HTTPResponseBody, _ store: @escaping @Sendable (Data, [HAR.Piece]?, Bool?) -> Void
    ) -> HTTPResponseBody {
        let pieces = Mutex<[(data: Data, time: Duration)]>([])
        let start = timeline.now
        let body = body.map(length: body.length) { [timeline] chunk in
            pieces.withLock { $0.append((chunk, timeline.now)) }
            return chunk
        }
        body.onEnd { end in
            let isTruncated: Bool? = if case .complete = end { nil } else { true }
            let pieces = pieces.withLock { $0 }
            store(pieces.reduce(into: Data()) { $0 += $1.data }, HAR.Piece.list(pieces, since: start), isTruncated)
        }
        return body
    }
}

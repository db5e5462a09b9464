// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead
import LetterheadObserving
import Synchronization

extension Cassette {
    /// Sends a request and records its response. The entries follow the order of the requests, not of the responses.
    func record(_ request: HTTPRequest, over next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let index = state.withLock { state in
            state.entries.append(nil)
            return state.entries.count - 1
        }
        let start = exchange.now
        var response = try await next.load(request)
        let sent = response.request.isRedirected ? request : response.request
        var entry = HAR.Entry(
            startedDateTime: Date().internetTime, request: await archived(sent), response: archived(response))
        entry.time = (exchange.now - start).milliseconds
        entry.timings?.wait = entry.time
        entry.template = request.template.map { StubInput.name(of: type(of: $0.root)) }
        entry.route = request.template?.root.path.route
        let isSecret = sent.isSecret
        if let data = response.body.buffered {
            let saved = response.savedFile.flatMap { try? Data(contentsOf: $0) }
            entry.response.content = content(saved ?? data, of: response, isSecret: isSecret)
            store(entry, at: index)
        } else {
            response.body = recording(response, entry, at: index, isSecret: isSecret)
        }
        return response
    }

    /// Returns a request without secrets. Decompresses a compressed body to find its secrets and to compare its
    /// content. A body that can't be decompressed counts as a secret.
    func archived(_ request: HTTPRequest) async -> HAR.Request {
        let redaction = redaction.adding(request.redaction)
        let headers = request.framedHeaders()
        let url = redaction.text(
            request.redaction.url(of: request).replacingBytes(of: Redaction.placeholder, with: "REDACTED"))
        var archived = HAR.Request(method: "\(request.method)", url: url, headers: redaction.fields(headers))
        // Without a query, the text "" would be one item without a name.
        let query = URLParts(url).query.map { QueryParameters(escaped: $0) }
        archived.queryString = query?.map { HAR.Field(name: $0.name, value: $0.value ?? "") } ?? []
        guard !request.body.isEmpty, let chunks = try? request.framedBody() else { return archived }
        var stored = chunks.data
        if stored == nil, request.body.isReplayable, chunks.length.map({ $0 <= Self.largestBody }) ?? false {
            stored = try? await chunks.allBytes()
        }
        guard let data = stored else {
            // The bytes are not available, so the archive has the body's type and length instead.
            let text = "(\(type(of: request.body)), \(chunks.length.map { "\($0)" } ?? "unknown") bytes)"
            archived.postData = HAR.PostData(mimeType: headers[.contentType] ?? "", text: text)
            return archived
        }
        let isCoded = headers.contains(.contentEncoding)
        let plain = isCoded ? headers.decompressed(data, upTo: Self.largestBody) : data
        let body = redaction.body(
            plain ?? data, mediaType: headers[.contentType].flatMap { MediaType($0) },
            isSecret: request.isSecret || plain == nil)
        let (text, encoding) = HAR.text(of: body)
        archived.postData = HAR.PostData(mimeType: headers[.contentType] ?? "", text: text, encoding: encoding)
        archived.bodySize = data.count
        return archived
    }

    /// The largest body to read from a file or to decompress, in bytes.
    private static let largestBody = 16 << 20

    private func archived(_ response: HTTPResponse) -> HAR.Response {
        let redaction = redaction.adding(response.request.redaction)
        return HAR.Response(
            status: response.status.code, statusText: response.status.reasonPhrase,
            headers: redaction.fields(response.headers),
            redirectURL: response.headers[.location].map { redaction.text($0) } ?? "")
    }

    private func content(_ data: Data, of response: HTTPResponse, isSecret: Bool) -> HAR.Content {
        let type = response.headers[.contentType].flatMap { MediaType($0) }
        let isHidden = isSecret || response.headers.contains(.contentEncoding)
        let body = redaction.adding(response.request.redaction).body(data, mediaType: type, isSecret: isHidden)
        let (text, encoding) = HAR.text(of: body)
        return HAR.Content(
            size: body.count, mimeType: response.headers[.contentType] ?? "", text: text, encoding: encoding)
    }

    /// Returns a streamed body that records its pieces while it is read.
    private func recording(
        _ response: HTTPResponse, _ entry: HAR.Entry, at index: Int, isSecret: Bool
    ) -> HTTPResponseBody {
        let recorded = Mutex(RecordedPieces(last: exchange.now))
        let body = response.body.map(length: response.body.length) { [exchange] chunk in
            let now = exchange.now
            recorded.withLock { recorded in
                recorded.pieces.append(HAR.Piece(bytes: chunk.count, delay: (now - recorded.last).milliseconds))
                recorded.data += chunk
                recorded.last = now
            }
            return chunk
        }
        body.onEnd { end in
            let isTruncated = if case .complete = end { false } else { true }
            let recorded = recorded.withLock { $0 }
            var entry = entry
            var content = self.content(recorded.data, of: response, isSecret: isSecret)
            content.pieces = recorded.pieces
            content.isTruncated = isTruncated ? true : nil
            entry.response.content = content
            self.store(entry, at: index)
        }
        return body
    }

    private func store(_ entry: HAR.Entry, at index: Int) { state.withLock { $0.entries[index] = entry } }
}

/// What has been read so far.
private struct RecordedPieces {
    var data = Data()
    var pieces: [HAR.Piece] = []
    var last: Duration
}

extension Duration {
    /// The duration in milliseconds.
    var milliseconds: Double {
        Double(components.seconds) * 1000 + (Double(components.attoseconds) / 1_000_000_000_000).rounded() / 1000
    }
}

// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead
import Synchronization

extension Cassette {
    /// Returns the response from the first unused entry that matches. If all are used and `repeatsEntries` is set, the
    /// last one responds. Returns nil without an entry to replay.
    func replay(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse? {
        guard replays else { return nil }
        if request.host != nil { try exchange.check(request) }
        let key = CassetteKey(await archived(request), matching, redaction)
        guard let entry = claim(key) else { return nil }
        return try await exchange.load(request) { request in
            entry.response.response(to: request, on: self.exchange.clock)
        }
    }

    /// Returns the error for a request without an entry. It names the nearest entry and the differences.
    func mismatch(of request: HTTPRequest) async -> HTTPError {
        let key = CassetteKey(await archived(request), matching, redaction)
        let (entries, used) = state.withLock { ($0.entries[..<$0.firstNew], $0.used) }
        let keys = entries.enumerated().compactMap { index, entry in
            entry.map {
                (number: index + 1, differences: key.differences(from: CassetteKey($0.request, matching, redaction)))
            }
        }
        var message = "the cassette \(file.lastPathComponent) has no entry for \(request.method) "
        message += request.redaction.outline(of: request)
        if let nearest = keys.min(by: { $0.differences.weight < $1.differences.weight }) {
            var texts = nearest.differences.map(\.text)
            if texts.isEmpty, used.contains(nearest.number - 1) {
                texts = ["it was already replayed (see repeatsEntries)"]
            }
            message += ", and the nearest is entry \(nearest.number): \(texts.joined(separator: "; "))"
        } else {
            message += records ? ": record it with the link of the cassette" : ": it is empty"
        }
        return HTTPError(.unexpectedRequest, request: request, message: message, mayHaveBeenSent: false)
    }

    private func claim(_ key: CassetteKey) -> HAR.Entry? {
        state.withLock { state in
            let fitting = (0..<state.firstNew).filter { index in
                guard let entry = state.entries[index], entry.response.status >= 100 else { return false }
                return CassetteKey(entry.request, matching, redaction) == key
            }
            let free = fitting.first { !state.used.contains($0) } ?? (matching.repeatsEntries ? fitting.last : nil)
            if let free { state.used.insert(free) }
            return free.flatMap { state.entries[$0] }
        }
    }
}

extension HAR.Response {
    /// Returns the recorded response, without the headers that describe an encoding, because an archive contains
    /// decoded bodies.
    fileprivate func response(to request: HTTPRequest, on clock: any Clock<Duration>) -> HTTPResponse {
        var headers = (headers ?? []).headers
        let data = content?.data ?? Data()
        let isEncoded = headers.contains(.contentEncoding)
        for name in [HTTPHeaders.Name.contentEncoding, .transferEncoding] { headers[name] = nil }
        if headers.contains(.contentLength), !data.isEmpty {
            headers[.contentLength] = isEncoded ? nil : "\(data.count)"
        }
        let isWhole = content?.pieces == nil && content?.isTruncated != true
        return HTTPResponse(
            request: request, status: HTTPStatus(status), headers: headers,
            body: isWhole ? HTTPResponseBody(data) : body(data, on: clock, of: request))
    }

    /// Returns a body that arrives in the recorded pieces. A truncated one ends with an error.
    private func body(_ data: Data, on clock: any Clock<Duration>, of request: HTTPRequest) -> HTTPResponseBody {
        var rest = data[...]
        var pieces: [(delay: Duration, data: Data)] = []
        for piece in content?.pieces ?? [] {
            pieces.append((.milliseconds(max(0, min(piece.delay, 1e9))), Data(rest.prefix(max(0, piece.bytes)))))
            rest = rest.dropFirst(max(0, piece.bytes))
        }
        if !rest.isEmpty { pieces.append((.zero, Data(rest))) }
        let isCut = content?.isTruncated == true
        return HTTPResponseBody(
            pieces: pieces, clock: clock,
            failure: isCut ? HTTPError(.connectionLost, request: request, message: "the recording ends here") : nil)
    }
}

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
        if let content = entry.response.content, content.isDropped == true {
            let line = "\(request.method) \(request.redaction.outline(of: request))"
            throw refused(
                request, "the response to \(line) cannot be replayed: \(content.comment ?? "it was not recorded")")
        }
        return try await exchange.load(request) { [exchange] request in
            if let wait = entry.wait { try await exchange.clock.pause(for: Duration(limiting: wait / 1_000)) }
            return try entry.result(of: request, on: exchange.clock)
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
        return refused(request, message)
    }

    /// Returns an error that ``verify()`` also throws.
    private func refused(_ request: HTTPRequest, _ message: String) -> HTTPError {
        state.withLock { if $0.refused.count < 20 { $0.refused.append(message) } }
        return HTTPError(.unexpectedRequest, request: request, message: message, mayHaveBeenSent: false)
    }

    private func claim(_ key: CassetteKey) -> HAR.Entry? {
        state.withLock { state in
            let fitting = (0..<state.firstNew).filter { index in
                guard let entry = state.entries[index], entry.response.status >= 100 || entry.failure != nil else {
                    return false
                }
                return CassetteKey(entry.request, matching, redaction).matches(key, entry)
            }
            let free = fitting.first { !state.used.contains($0) } ?? (matching.repeatsEntries ? fitting.last : nil)
            if let free { state.used.insert(free) }
            return free.flatMap { state.entries[$0] }
        }
    }
}

extension CassetteKey {
    /// Returns whether a request has the same key. A body that a flight recorder has not kept is not compared.
    fileprivate func matches(_ request: CassetteKey, _ entry: HAR.Entry) -> Bool {
        guard entry.request.postData?.isDropped == true else { return self == request }
        var request = request
        request.body = body
        return self == request
    }
}

extension HAR.Entry {
    /// Returns the recorded response, or throws the recorded error. An error of a streamed body is thrown by the body.
    fileprivate func result(of request: HTTPRequest, on clock: any Clock<Duration>) throws(HTTPError) -> HTTPResponse {
        let error = failure.map { code in
            // With these codes, nothing was sent.
            let isUnsent = ["cannotConnect", "insecureConnection", "proxyRefused"].contains(code)
            return HTTPError(
                HTTPError.Code(rawValue: code), request: request, message: "as recorded",
                mayHaveBeenSent: !isUnsent)
        }
        let response = response.response(to: request, on: clock, failure: error)
        guard let error, self.response.content?.pieces == nil else { return response }
        throw self.response.status >= 100 ? error.with(response: response) : error
    }
}

extension HAR.Response {
    /// Returns the recorded response, without the headers that describe an encoding, because an archive contains
    /// decoded bodies.
    fileprivate func response(
        to request: HTTPRequest, on clock: any Clock<Duration>, failure: HTTPError?
    ) -> HTTPResponse {
        var headers = (headers ?? []).headers
        let data = content?.data ?? Data()
        let isEncoded = headers.contains(.contentEncoding)
        for name in [HTTPHeaders.Name.contentEncoding, .transferEncoding] { headers[name] = nil }
        if headers.contains(.contentLength), !data.isEmpty {
            headers[.contentLength] = isEncoded ? nil : "\(data.count)"
        }
        let isWhole = content?.pieces == nil && (content?.isTruncated != true || failure != nil)
        return HTTPResponse(
            request: request, status: HTTPStatus(status), headers: headers,
            body: isWhole ? HTTPResponseBody(data) : body(data, on: clock, of: request, failure))
    }

    /// Returns a body that arrives in the recorded pieces. A truncated one ends with an error.
    private func body(
        _ data: Data, on clock: any Clock<Duration>, of request: HTTPRequest, _ failure: HTTPError?
    ) -> HTTPResponseBody {
        var rest = data[...]
        var pieces: [(delay: Duration, data: Data)] = []
        for piece in content?.pieces ?? [] {
            pieces.append((.milliseconds(max(0, min(piece.delay, 1e9))), Data(rest.prefix(max(0, piece.bytes)))))
            rest = rest.dropFirst(max(0, piece.bytes))
        }
        if !rest.isEmpty { pieces.append((.zero, Data(rest))) }
        let isCut = content?.isTruncated == true
        let end = isCut ? HTTPError(.connectionLost, request: request, message: "the recording ends here") : nil
        return HTTPResponseBody(pieces: pieces, clock: clock, failure: failure ?? end)
    }
}
